"""How far a sweep is, on stderr: one moving line on a terminal, plain lines now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, final

from gnomon.cli.progress import moving

if TYPE_CHECKING:
    from gnomon.lab.engines import Progress, Standing

EVERY = 15.0  #: seconds between two plain lines while no run ends


@contextmanager
def show_sweep() -> Iterator["Progress"]:
    """Yield whom an engine tells how it goes."""
    if moving():
        with _bar() as bar:
            yield bar
    else:
        yield Lines()


@final
class Lines:
    """A line for every run that ends, and at most every 15 seconds for one that goes on."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._next = clock() + EVERY

    def note(self, words: str) -> None:
        print(f"gnomon: {words}", file=sys.stderr, flush=True)

    def show(self, standing: "Standing") -> None:
        if standing.state != "going on" or self._clock() >= self._next:
            self._next = self._clock() + EVERY
            print(f"[{standing.finished}/{standing.total}] {words(standing)}", file=sys.stderr, flush=True)


@final
class Bar:
    """The same on one line that moves."""

    def __init__(self, bar: Any) -> None:
        self._bar, self._task = bar, bar.add_task("starting", total=None)

    def note(self, words: str) -> None:
        self._bar.console.print(f"gnomon: {words}", highlight=False, markup=False)

    def show(self, standing: "Standing") -> None:
        self._bar.update(self._task, description=words(standing), completed=standing.finished, total=standing.total)


def words(standing: "Standing") -> str:
    """What happened and how long it will take, as in "copy rotary seed 1: step 200 of 600; 3 min left"."""
    happened = standing.state if standing.state != "going on" else f"step {standing.done} of {standing.steps}"
    left = "" if not standing.seconds_left else f"; {duration(standing.seconds_left)} left"
    return f"{standing.run.name}: {happened}{left}"


def duration(seconds: float) -> str:
    """
    >>> duration(8.2), duration(95), duration(7300)
    ('9 s', '2 min', '2 h 2 min')
    """
    if seconds < 60:
        return f"{-int(-seconds // 1)} s"
    minutes = -int(-seconds // 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


@contextmanager
def _bar() -> Iterator[Bar]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Moving

    columns = (
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Moving(*columns, console=Console(stderr=True), transient=True) as moving_bar:
        yield Bar(moving_bar)
