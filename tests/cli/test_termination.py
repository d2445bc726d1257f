"""Signals that end a command: cleaned up once, whatever comes after, and not at all where somebody else has them."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import typer

from gnomon.cli.termination import cleaned_up_on_signals


@contextmanager
def _handled(number: int, how: Callable[[int, object], None] | signal.Handlers) -> Iterator[None]:
    before = signal.signal(number, how)
    try:
        yield
    finally:
        signal.signal(number, before)


def _ended(number: int, folder: Path, cleaned: list[bool]) -> None:
    with cleaned_up_on_signals():
        try:
            with TemporaryDirectory(dir=folder):
                signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGHUP)
            signal.raise_signal(signal.SIGTERM)
            cleaned.append(True)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_does_not_end_the_cleaning_up(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cleaned: list[bool] = []
    with _handled(number, signal.SIG_DFL), pytest.raises(typer.Exit) as ended:
        _ended(number, tmp_path, cleaned)
    assert ended.value.exit_code == 128 + number
    assert (cleaned, list(tmp_path.iterdir())) == ([True], [])
    assert capsys.readouterr().err.startswith("gnomon: ")
    assert signal.getsignal(signal.SIGHUP) == signal.SIG_DFL


def test_a_run_under_nohup_goes_on() -> None:
    with _handled(signal.SIGHUP, signal.SIG_IGN), cleaned_up_on_signals():
        signal.raise_signal(signal.SIGHUP)
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN


def test_a_handler_that_somebody_set_stays() -> None:
    seen = []
    with _handled(signal.SIGTERM, lambda number, _: seen.append(number)), cleaned_up_on_signals():
        signal.raise_signal(signal.SIGTERM)
    assert seen == [signal.SIGTERM]
