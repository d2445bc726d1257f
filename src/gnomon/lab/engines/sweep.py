"""How far a list of runs is, and how long the rest will take."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, final

from gnomon.report.lab.results import Run

State = Literal["going on", "ended", "failed"]
Clock = Callable[[], float]
EVERY = 0.25  #: seconds between two steps that are told of


@final
@dataclass(frozen=True)
class Standing:
    """Where a sweep stands after something happened to `run`: it went on to step `done` of `steps`, or it ended."""

    run: Run
    done: int
    steps: int  #: 0: not known
    state: State
    finished: int  #: runs that have ended, those that failed among them
    total: int  #: runs
    seconds_left: float | None  #: None: nothing has been measured yet


@final
@dataclass
class _Course:
    """What is known of one run."""

    run: Run
    first: tuple[float, int] | None = None  #: when the first step was told of, and which it was
    last: tuple[float, int] = (0.0, 0)
    steps: int = 0
    seconds: float | None = None  #: of the whole run
    state: State = "going on"

    @property
    def over(self) -> bool:
        return self.state != "going on"

    @property
    def a_step(self) -> float | None:
        """Seconds for a step, once two have been told of."""
        if self.first is None or self.last[1] <= self.first[1]:
            return None
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])

    @property
    def whole(self) -> float | None:
        """Seconds for the whole run: measured, or foreseen from its steps."""
        if self.seconds is not None or self.a_step is None:
            return self.seconds
        return self.a_step * self.steps


@final
class Sweep:
    """Keeps the time. `at_once` tells how many runs are under way together.

    Runs differ in cost, so one that has not begun is taken to last as long as those most like it.

    >>> runs = [Run("train", "copy", name, seed, {"name": name}) for name in ("rotary", "alibi") for seed in (0, 1)]
    >>> sweep = Sweep(runs, at_once=lambda: 1)
    >>> sweep.ended(runs[0], seconds=60.0).seconds_left
    180.0
    """

    def __init__(self, runs: Sequence[Run], at_once: Callable[[], int], clock: Clock = time.monotonic) -> None:
        self._courses = {run.key: _Course(run) for run in runs}
        self._at_once, self._clock = at_once, clock

    def stepped(self, run: Run, done: int, steps: int) -> Standing:
        """A run went on to step `done`. One that goes on after its worker was lost is measured from there."""
        course, now = self._courses[run.key], self._clock()
        if course.first is None or done < course.last[1]:
            course.first = (now, done)
        course.last, course.steps = (now, done), steps
        return self._standing(course)

    def ended(self, run: Run, seconds: float | None) -> Standing:
        """A run ended after `seconds`; None where it failed."""
        course = self._courses[run.key]
        course.seconds, course.state = seconds, "failed" if seconds is None else "ended"
        return self._standing(course)

    def seconds_left(self) -> float | None:
        """Until the last run ends, or None while nothing is known."""
        like = self._means()
        left = [_left(course, like) for course in self._courses.values() if not course.over]
        known = [seconds for seconds in left if seconds is not None]
        if len(known) < len(left):
            return None
        return max(sum(known) / max(1, min(self._at_once(), len(left))), *known, 0.0)

    def _standing(self, course: _Course) -> Standing:
        finished = sum(each.over for each in self._courses.values())
        done, steps = course.last[1], course.steps
        return Standing(course.run, done, steps, course.state, finished, len(self._courses), self.seconds_left())

    def _means(self) -> dict[tuple[str, ...], float]:
        """Seconds of a run of one group and variant, of one group, and of any."""
        known: dict[tuple[str, ...], list[float]] = {}
        for course in self._courses.values():
            if course.whole is not None:
                for place in _places(course.run):
                    known.setdefault(place, []).append(course.whole)
        return {place: fmean(seconds) for place, seconds in known.items()}


def _left(course: _Course, like: Mapping[tuple[str, ...], float]) -> float | None:
    """Seconds until a run ends; a run without steps yet lasts as long as those most like it."""
    if course.a_step is not None:
        return course.a_step * (course.steps - course.last[1])
    return next((like[place] for place in _places(course.run) if place in like), None)


def _places(run: Run) -> tuple[tuple[str, ...], ...]:
    return (run.group, run.variant), (run.group,), ()


@final
class Seldom:
    """Passes on steps at most every quarter of a second, and the last.

    >>> Seldom(lambda done, steps: None)(1, 10)
    """

    def __init__(self, tell: Callable[[int, int], None], clock: Clock = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._next = 0.0

    def __call__(self, done: int, steps: int) -> None:
        if self._clock() >= self._next or done == steps:
            self._next = self._clock() + EVERY
            self._tell(done, steps)
