"""SIGTERM, as service managers and job schedulers send it: what was begun is cleaned up before the command ends."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import typer

TERMINATED = 143  #: 128 + SIGTERM, as a shell says it


class _Terminated(KeyboardInterrupt):
    """Passes, like an interrupt, through code that catches whatever a target raises."""


@contextmanager
def cleaned_up_on_sigterm() -> Iterator[None]:
    """End with 143 on SIGTERM, once every `finally` inside has run; a handler that somebody set already stays."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    except _Terminated:
        typer.echo("gnomon: terminated", err=True)
        raise typer.Exit(TERMINATED) from None
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise(_signal: int, _frame: object) -> None:
    raise _Terminated
