"""Progress of a sweep: lines now and then for a program, a bar for a person."""

import io
import sys

import pytest

from gnomon.cli.lab_progress import Lines, show_sweep, words
from gnomon.lab.engines import Standing
from gnomon.lab.engines.sweep import State
from gnomon.report.lab.results import Run

RUN = Run("train", "copy", "rotary", 1)


def standing(done: int, state: State = "going on", left: float | None = 100.0) -> Standing:
    return Standing(RUN, done, 600, state, finished=2, total=30, seconds_left=left)


def test_a_line_says_what_happened_and_what_is_left() -> None:
    assert words(standing(200)) == "copy rotary seed 1: step 200 of 600; 2 min left"
    assert words(standing(200, left=None)) == "copy rotary seed 1: step 200 of 600"
    assert words(standing(600, "ended", 0.0)) == "copy rotary seed 1: ended"
    assert words(standing(7, "failed")) == "copy rotary seed 1: failed; 2 min left"


def test_lines_come_for_every_end_and_every_fifteen_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    lines = Lines(lambda: now)
    for now, it in (  # noqa: B007
        (1.0, standing(1)),
        (15.0, standing(2)),
        (16.0, standing(3)),
        (17.0, standing(4, "ended")),
        (31.0, standing(5)),
        (32.0, standing(6)),
    ):
        lines.show(it)
    told = capsys.readouterr()
    assert told.out == ""
    happened = [line.split(": ")[1].split(";")[0] for line in told.err.splitlines()]
    assert happened == ["step 2 of 600", "ended", "step 6 of 600"]
    assert told.err.startswith("[2/30] copy rotary seed 1: step 2 of 600; 2 min left\n")


def test_a_note_is_a_line_of_gnomon(capsys: pytest.CaptureFixture[str]) -> None:
    Lines().note("2 of 3 runs were finished before")
    assert capsys.readouterr().err == "gnomon: 2 of 3 runs were finished before\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar_in_which_names_are_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with show_sweep() as progress:
        progress.note("a [bold] note")
        progress.show(standing(200))
    text = terminal.getvalue()
    assert "\x1b[" in text
    assert "gnomon: a [bold] note" in text
    assert "2/30" in text
