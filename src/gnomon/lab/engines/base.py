"""How a list of independent runs is done: what is common to all engines."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Protocol, final

from gnomon.lab.engines.sweep import Standing, Sweep
from gnomon.lab.store import Store, shown_as
from gnomon.report.lab.results import Result, Run
from gnomon.report.lab.study import Failure

TRIES = 3  #: how often a run is begun whose worker is lost; one that ends in an error is not tried again


class Progress(Protocol):
    """Who is told how it goes."""

    def note(self, words: str) -> None:
        """One sentence, said once."""

    def show(self, standing: Standing) -> None:
        """A run went on, or ended."""


@final
class Silent:
    """Tells nobody."""

    def note(self, words: str) -> None:
        pass

    def show(self, standing: Standing) -> None:
        pass


@final
@dataclass(frozen=True)
class Step:
    """A run went on to step `done` of `steps`."""

    run: Run
    done: int
    steps: int


Event = Step | Result | Failure
Tell = Callable[[Event], None]


class Engine(ABC):
    """Does runs, each of which is independent of the others. A finished run is stored at once and never repeated."""

    at_once: int = 1  #: how many runs are under way together
    keeps: bool = True  #: whether this process is the one that stores results

    @abstractmethod
    def do(self, runs: Sequence[Run], store: Store, tell: Tell) -> None:
        """Do the runs, and tell of one Result or one Failure for each. On an exception all work stops."""

    def stored(self, runs: Sequence[Run], store: Store, progress: Progress) -> dict[str, Result]:
        """By key, what was finished before and may be taken today."""
        found = [result for result in map(store.find, runs) if result is not None]
        reasons = {result.run.key: store.outdated(result) for result in found}
        taken = {result.run.key: result for result in found if not reasons[result.run.key]}
        if taken:
            progress.note(f"{len(taken)} of {len(runs)} runs were finished before and are taken from {store.folder}")
        old = sorted({reason for own in reasons.values() for reason in own})
        if old:
            again = len(found) - len(taken)
            progress.note(f"{again} of {len(runs)} runs were made with {', '.join(old)} and are made again")
        return taken

    def perform(
        self, runs: Sequence[Run], store: Store, progress: Progress | None = None
    ) -> tuple[list[Result], list[Failure]]:
        """Results and failures in the order of the runs. Runs that compute the same are done once."""
        told = Silent() if progress is None else progress
        distinct = list({run.key: run for run in runs}.values())
        ended: dict[str, Result | Failure] = dict(self.stored(distinct, store, told))
        pending = [run for run in distinct if run.key not in ended]
        if pending:
            ended |= self._done(pending, store, told)
        results = [shown_as(end, run) for run in runs if isinstance(end := ended[run.key], Result)]
        failures = [Failure(run, end.message) for run in runs if isinstance(end := ended[run.key], Failure)]
        return results, failures

    def _done(self, runs: Sequence[Run], store: Store, progress: Progress) -> dict[str, Result | Failure]:
        ended: dict[str, Result | Failure] = {}
        sweep = Sweep(runs, lambda: self.at_once)

        def tell(event: Event) -> None:
            if isinstance(event, Step):
                progress.show(sweep.stepped(event.run, event.done, event.steps))
                return
            if isinstance(event, Result) and self.keeps:
                store.save(event)
            if isinstance(event, Failure):
                progress.note(f"{event.run.name} failed: {event.message}")
            ended[event.run.key] = event
            progress.show(sweep.ended(event.run, event.seconds if isinstance(event, Result) else None))

        with store.alone() if self.keeps else nullcontext():
            self.do(runs, store, tell)
        return ended
