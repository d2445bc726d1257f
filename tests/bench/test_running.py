"""A run: errors before times, reasons for what is missing, threads and targets where they belong."""

from collections.abc import Iterator

import pytest
import torch

from gnomon.bench import running
from gnomon.bench.cell import Candidate, Cell, Child, Request, registry
from gnomon.bench.running import TINY, measured, run
from gnomon.bench.targets import Target
from gnomon.errors import GnomonError, UnknownNameError
from gnomon.report.bench.results import Row


def refuse() -> float:
    raise GnomonError("this path is for the other layout")


def test_a_way_that_refuses_is_a_row_with_its_reason_and_is_never_called() -> None:
    cell = Cell("c", "", (Candidate("base", lambda: None), Candidate("no", refuse, refuse)))
    [result] = measured("b", cell, [1], TINY)
    assert [(row.name, row.missing) for row in result.rows] == [
        ("base", ""),
        ("no", "this path is for the other layout"),
    ]


def test_errors_are_asked_before_anything_is_timed() -> None:
    order: list[str] = []

    def error() -> float:
        order.append("error")
        return 0.25

    cell = Cell("c", "", (Candidate("a", lambda: order.append("call"), error),))
    [result] = measured("b", cell, [1], TINY)
    assert (order[0], order.count("error"), result.rows[0].error) == ("error", 1, 0.25)


def test_each_number_of_threads_is_a_table_and_they_are_put_back() -> None:
    seen: list[int] = []
    before = torch.get_num_threads()
    target = Target("P2", "s", "threads", "a", 1.0, threads=2)
    cell = Cell("c", "", (Candidate("a", lambda: seen.append(torch.get_num_threads())),), (target,))
    first, second = measured("b", cell, [1, 2], TINY)
    assert (first.threads, second.threads, set(seen)) == (1, 2, {1, 2})
    assert (first.verdicts, [verdict.code for verdict in second.verdicts]) == ((), ["P2"])
    assert second.verdicts[0].value is not None
    assert torch.get_num_threads() == before


def test_a_way_that_is_measured_once_is_no_row_of_the_second_table() -> None:
    ways = (Candidate("a", lambda: None), Candidate("peer", lambda: None, once=True))
    tables = measured("b", Cell("c", "", ways), [1, 2], TINY)
    assert [[row.name for row in table.rows] for table in tables] == [["a", "peer"], ["a"]]


def test_a_cell_alone_is_measured_with_one_number_of_threads() -> None:
    assert len(measured("b", Cell("c", "", (Candidate("a", lambda: None),), alone=True), [1, 2], TINY)) == 1
    assert len(measured("b", Cell("c", "", given=(Row("memory alone", peak=1),)), [1, 2], TINY)) == 1


def test_memory_of_children_and_given_rows_are_rows_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "in_fresh_process", lambda task: {"growth": 100 * task["values"]["size"]})
    children = (Child("ours", "code", {"size": 3}),)
    target = Target("T", "s", "memory", "ours", 2.0, ("inputs",))
    cell = Cell("c", "", (), (target,), children=children, given=(Row("inputs", peak=200),))
    [result] = measured("b", cell, [1], TINY)
    assert [(row.name, row.peak) for row in result.rows] == [("inputs", 200), ("ours", 300)]
    assert result.verdicts[0].holds is True


def test_a_child_that_fails_is_a_row_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(task: object) -> dict[str, float]:
        raise GnomonError("The measured code ended with code 1: MemoryError")

    monkeypatch.setattr(running, "in_fresh_process", fail)
    [result] = measured("b", Cell("c", "", children=(Child("ours", "code"),)), [1], TINY)
    assert "MemoryError" in result.rows[0].missing


def test_more_threads_than_cores_are_left_out_and_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def bench(request: Request) -> Iterator[Cell]:
        yield Cell("c", "", (Candidate("a", lambda: None),))

    monkeypatch.setattr(running, "usable_cores", lambda: 1)
    monkeypatch.setattr(registry, "get", lambda name: bench)
    told: list[tuple[str, str]] = []
    found = run(
        ["x"], Request(), threads=[1, 2], command="c", timing=TINY, tell=lambda name, words: told.append((name, words))
    )
    assert [cell.threads for cell in found.cells] == [1]
    assert found.notes[0] == "Not measured with 2 threads: this process may use 1 cores."
    assert told == [("x", "c")]
    assert {"cpu", "torch", "compiled kernel", "flags", "date"} <= set(found.environment)


def test_an_unknown_benchmark_is_an_error_before_any_is_run() -> None:
    told: list[str] = []
    with pytest.raises(UnknownNameError, match=r"No benchmark is called 'rotery'\. Did you mean 'rotary'"):
        run(
            ["startup", "rotery"],
            Request(),
            threads=[1],
            command="",
            timing=TINY,
            tell=lambda *words: told.extend(words),
        )
    assert told == []
