"""Times of several ways to do one thing, taken in turns, so that a busy moment of the machine meets all of them."""

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

Clock = Callable[[], float]
Call = Callable[[], object]


@dataclass(frozen=True)
class Timing:
    """How often and how long.

    `rounds`: how many numbers each way gets. A number is the mean of as many calls as take `sample` seconds, one at
    least. Of a way whose call takes more than `patience` seconds there are 3 numbers.
    """

    rounds: int = 7
    sample: float = 0.01
    patience: float = 3.0
    clock: Clock = time.perf_counter

    def seconds(self, calls: Mapping[str, Call]) -> dict[str, tuple[float, ...]]:
        """Seconds of one call of each way, one number for each round. The order turns by one from round to round.

        The first call of each is not counted: it fills caches, and loads what is loaded late.
        """
        loops = {name: self._loops(call) for name, call in calls.items()}
        wanted = {name: self.rounds if count else min(3, self.rounds) for name, count in loops.items()}
        taken: dict[str, list[float]] = {name: [] for name in calls}
        with _no_collection():
            for number in range(self.rounds):
                for name in _turned(list(calls), number):
                    if len(taken[name]) < wanted[name]:
                        taken[name].append(self._sample(calls[name], max(1, loops[name])))
        return {name: tuple(numbers) for name, numbers in taken.items()}

    def _loops(self, call: Call) -> int:
        """How many calls take as long as a sample; 0 for a way that is too slow to be called in all rounds."""
        call()
        loops = 1
        while True:
            passed = loops * self._sample(call, loops)
            if passed > loops * self.patience:
                return 0
            if passed >= self.sample:
                return loops
            loops = max(loops + 1, min(10 * loops, round(1.2 * loops * self.sample / max(passed, 1e-9))))

    def _sample(self, call: Call, loops: int) -> float:
        clock = self.clock
        started = clock()
        for _ in range(loops):
            call()
        return (clock() - started) / loops


def _turned(names: Sequence[str], number: int) -> Sequence[str]:
    first = number % max(1, len(names))
    return [*names[first:], *names[:first]]


@contextmanager
def _no_collection() -> Iterator[None]:
    """No garbage collector between two readings of the clock."""
    on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
