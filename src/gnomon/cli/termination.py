"""SIGTERM, as service managers and job schedulers send it, and SIGHUP, as a closing terminal does: what was begun is
cleaned up before the command ends.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import typer

#: what is said of each signal; a system may lack the second
SAID: Final = {
    getattr(signal, name): said
    for name, said in (("SIGTERM", "terminated"), ("SIGHUP", "ended, because its terminal was closed"))
    if hasattr(signal, name)
}


class _Ended(KeyboardInterrupt):
    """Passes, like an interrupt, through code that catches whatever a target raises."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def cleaned_up_on_signals() -> Iterator[None]:
    """End with 128 and the signal's number, as a shell says it, once every `finally` inside has run.

    A signal that somebody handles or ignores already, as nohup ignores SIGHUP, stays as it is.
    """
    main = threading.current_thread() is threading.main_thread()
    ours = [number for number in SAID if main and signal.getsignal(number) == signal.SIG_DFL]

    def end(number: int, _frame: object) -> None:
        for one in ours:  # shells send a second SIGHUP, which would end the cleaning up
            signal.signal(one, signal.SIG_IGN)
        raise _Ended(number)

    for number in ours:
        signal.signal(number, end)
    try:
        yield
    except _Ended as ended:
        with suppress(OSError):  # the terminal is gone
            typer.echo(f"gnomon: {SAID[signal.Signals(ended.number)]}", err=True)
        raise typer.Exit(128 + ended.number) from None
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
