"""Progress: a bar for a person at a terminal, plain lines for everything else."""

import io
import sys

import pytest

from gnomon.cli.progress import show_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, **environment: str) -> str:
    for name in ("NO_COLOR", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress() as progress:
        progress("PE101", "rotary-width", 0, 1)
        progress("", "done", 1, 1)
    return stream.getvalue()


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in shown(monkeypatch, Terminal())


@pytest.mark.parametrize("name", ["NO_COLOR", "CI"])
def test_a_terminal_that_asks_for_plain_output_gets_lines(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    assert shown(monkeypatch, Terminal(), **{name: "1"}) == "[1/1] PE101 rotary-width\n"


def test_a_pipe_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, io.StringIO()) == "[1/1] PE101 rotary-width\n"
