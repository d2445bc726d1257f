"""What all engines have in common: each run once, in order, kept at once, and not again."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gnomon.errors import GnomonError
from gnomon.lab.engines.base import Engine, Tell
from gnomon.lab.store import Store
from gnomon.report.lab.results import Result, Run, Series
from gnomon.report.lab.study import Failure
from tests.helpers.lab_runs import Told, store_in, tiny


def outcome(run: Run) -> Result | Failure:
    if run.variant == "bad":
        return Failure(run, "It is bad.")
    measured = {"": {"loss": Series.number(1.0)}, "other": {"loss": Series.number(2.0)}}
    environment = {"gnomon": "1", "torch": "2", "device": "cpu"}
    return Result(run, measured, seconds=2.0, environment=environment, data={"text": "old"})


class Fake(Engine):
    def __init__(self, between: Callable[[Run], None] = lambda run: None) -> None:
        self.done: list[Run] = []
        self.between = between

    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        for run in reversed(runs):
            self.done.append(run)
            self.between(run)
            tell(outcome(run))


def a_store(folder: Path, checksum: str = "old", **today: str) -> Store:
    return Store(folder, {"gnomon": "1", "torch": "2", "device": "cpu", **today}, {"text": checksum}.get)


def test_results_and_failures_come_in_the_order_of_the_runs(tmp_path: Path) -> None:
    runs = [tiny("a"), tiny("bad"), tiny("b"), tiny("bad", 1)]
    results, failures = Fake().perform(runs, a_store(tmp_path))
    assert [result.run for result in results] == [runs[0], runs[2]]
    assert failures == [Failure(runs[1], "It is bad."), Failure(runs[3], "It is bad.")]


def test_runs_that_compute_the_same_are_done_once_and_shown_twice(tmp_path: Path) -> None:
    run = tiny("a")
    twin = replace(run, group="elsewhere", variant="another name")
    engine = Fake()
    results, _ = engine.perform([run, twin], a_store(tmp_path))
    assert len(engine.done) == 1
    assert [(r.run, list(r.measured)) for r in results] == [(run, ["a", "other"]), (twin, ["another name", "other"])]


def test_a_finished_run_is_not_repeated_and_that_is_said(tmp_path: Path) -> None:
    first, second, told = Fake(), Fake(), Told()
    before, _ = first.perform([tiny("a"), tiny("b")], a_store(tmp_path))
    after, _ = second.perform([tiny("a"), tiny("b"), tiny("c")], a_store(tmp_path), told)
    assert [run.variant for run in second.done] == ["c"]
    assert after[:2] == before
    assert told.notes == [f"2 of 3 runs were finished before and are taken from {tmp_path}"]


def test_a_failed_run_is_done_again(tmp_path: Path) -> None:
    Fake().perform([tiny("bad")], a_store(tmp_path))
    engine = Fake()
    engine.perform([tiny("bad")], a_store(tmp_path))
    assert len(engine.done) == 1


@pytest.mark.parametrize(
    ("today", "checksum", "reason"),
    [
        ({"torch": "3"}, "old", "torch 2"),
        ({"gnomon": "2"}, "old", "gnomon 1"),
        ({"device": "cuda"}, "old", "device cpu"),
        ({}, "new", "another text"),
    ],
)
def test_a_result_of_other_versions_or_data_is_made_again(
    tmp_path: Path, today: dict[str, str], checksum: str, reason: str
) -> None:
    Fake().perform([tiny("a")], a_store(tmp_path))
    engine, told = Fake(), Told()
    engine.perform([tiny("a")], a_store(tmp_path, checksum, **today), told)
    assert len(engine.done) == 1
    assert told.notes == [f"1 of 1 runs were made with {reason} and are made again"]


def test_what_is_finished_is_kept_when_the_work_is_broken_off(tmp_path: Path) -> None:
    def stop(run: Run) -> None:
        if run.variant == "a":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Fake(stop).perform([tiny("a"), tiny("b")], a_store(tmp_path))
    engine = Fake()
    engine.perform([tiny("a"), tiny("b")], a_store(tmp_path))
    assert [run.variant for run in engine.done] == ["a"]


def test_a_failure_is_told_at_once(tmp_path: Path) -> None:
    told = Told()
    Fake().perform([tiny("bad", seed=7)], store_in(tmp_path), told)
    assert told.notes == ["copy bad seed 7 failed: It is bad."]
    assert [standing.state for standing in told.standings] == ["failed"]


def test_a_folder_that_cannot_be_made_is_refused_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = Fake()
    with pytest.raises(GnomonError, match="cannot be made"):
        engine.perform([tiny("a")], a_store(tmp_path / "file" / "folder"))
    assert engine.done == []
