"""What a reader sees: ratios, reasons, and what holds here; at any width, nothing cut."""

import json

import pytest
from rich.cells import cell_len

from gnomon.report.bench.results import MIB, Benchmarks, CellResult, Row, Verdict
from gnomon.report.bench.text import render_text

HOLDS = Verdict("R1", "at most 1.10 of copy_", True, 0.5, 1.1, "x", False)
FAILS = Verdict("R1", "10 times as fast as another", False, 4.0, 10.0, "x", True)
UNKNOWN = Verdict("X1", "faster than a third", None, None, 1.0, "x", True, why="third: not installed")
ROWS = (
    Row("copy_", (2e-3, 2e-3, 2e-3)),
    Row("gnomon", (1e-3, 0.5e-3, 1e-3), error=1.5e-7),
    Row("third", missing="not installed"),
)
CELL = CellResult("rotary", "float32, B1 H2", "into given memory", 1, ROWS, (HOLDS, FAILS, UNKNOWN))
SIZES = (Row("a matrix", (4.0, 4.0), peak=400 * MIB), Row("no matrix", (1.0, 1.0), peak=100 * MIB))
BARS = CellResult("long-context", "encoder", "", 2, SIZES, bars=True)
FOUND = Benchmarks("quick", "gnomon bench --quick", {"cpu": "one"}, (CELL, BARS), ("2 threads left out.",), 12.3)


def test_a_row_is_its_ratio_to_the_first_and_a_missing_one_its_reason() -> None:
    text = render_text(FOUND)
    [line] = [line for line in text.splitlines() if line.startswith("gnomon  ")]
    assert line.split() == ["gnomon", "0.500", "0.250", "1.00", "ms", "500", "us", "25%", "1.5e-07"]
    assert "third: not measured, not installed" in text


def test_each_target_says_whether_it_holds_and_by_which_numbers() -> None:
    text = render_text(FOUND, width=200)
    assert "  R1 holds: at most 1.10 of copy_ (0.500x, at most 1.10x)\n" in text
    assert "  R1 does not hold here: 10 times as fast as another (4.00x, at least 10.0x)\n" in text
    assert "  X1 not measured: faster than a third (third: not installed)\n" in text


def test_the_end_counts_what_holds_and_lists_what_does_not() -> None:
    text = render_text(FOUND, width=200)
    end = text[text.index("Targets, as they hold") :]
    assert "  R1: 1 of 2 hold\n" in end
    assert "not here: 10 times as fast as another (4.00x, at least 10.0x); float32, B1 H2, 1 thread\n" in end
    assert "  X1: 0 of 0 hold, 1 not measured\n" in end
    assert "2 threads left out." in end
    assert end.endswith("2 cells, 12 s in all.")


def test_bars_are_as_long_as_their_numbers() -> None:
    lines = render_text(FOUND, width=120).splitlines()
    bars = [line.count("█") for line in lines if "█" in line]
    assert bars == [40, 10, 40, 10]


@pytest.mark.parametrize(("seconds", "disturbed"), [((1.0, 1.0, 1.1, 1.0, 1.0), False), ((1.0, 2.0, 1.0, 2.0), True)])
def test_a_baseline_that_spreads_marks_its_cell(seconds: tuple[float, ...], disturbed: bool) -> None:
    cell = CellResult("b", "t", "", 1, (Row("copy_", seconds),), (FAILS,))
    found = Benchmarks("full", "c", {"cpu": "one"}, (cell,))
    assert cell.disturbed is disturbed
    assert ("Disturbed: the rounds of copy_" in render_text(found)) is disturbed
    assert json.loads(found.to_json())["cells"][0]["disturbed"] is disturbed


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_is_wider_than_asked(width: int) -> None:
    text = render_text(FOUND, width=width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "1.5e-07" in text


def test_json_has_the_numbers_and_their_ratios() -> None:
    data = json.loads(FOUND.to_json())
    row = data["cells"][0]["rows"][1]
    assert (row["time_ratio"], row["least_ratio"], row["error"]) == (0.5, 0.25, 1.5e-7)
    assert data["cells"][1]["rows"][1]["memory_ratio"] == 0.25
    assert data["cells"][0]["verdicts"][1]["holds"] is False
    assert (data["environment"], data["notes"], data["size"]) == ({"cpu": "one"}, ["2 threads left out."], "quick")


def test_what_a_busy_machine_left_open_is_said_with_both_numbers_and_counted() -> None:
    why = "disturbed: run again on a quiet machine"
    unclear = Verdict("R3", "at most 1.20 of clone", None, 16.0, 1.2, "x", False, why, least=1.0, unsteady=("clone",))
    rows = (Row("copy_", (1.0,) * 5), Row("clone", (1.0, *(16.0,) * 4)))
    cell = CellResult("rotary", "float32", "", 1, rows, (unclear, HOLDS))
    text = render_text(Benchmarks("full", "c", {"cpu": "one"}, (cell,)), width=200)
    assert cell.disturbed
    assert "Disturbed: the rounds of clone are unsteady; ratios here say little." in text
    said = f"at most 1.20 of clone (16.0x by medians, 1.00x by minima, at most 1.20x; {why})"
    assert f"  R3 no verdict: {said}\n" in text
    assert "  R3: 0 of 0 hold, 1 without a verdict in this run\n" in text
    assert "does not hold" not in text
