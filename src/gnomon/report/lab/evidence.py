"""The numbers of a study by group, variant, measure, place and seed: what statistics, figures and judgements read."""

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import final

from gnomon.report.lab.results import Result, Series


@final
class Evidence:
    """Reads results. Numbers that are None (not measurable there) are left out.

    >>> from gnomon.report.lab.results import Run
    >>> run = Run("train", "copy", "rotary", 0, {})
    >>> evidence = Evidence([Result(run, {"rotary": {"loss": Series((64, 128), (1.0, 3.0))}}, seconds=1.0)])
    >>> evidence.mean("copy", "rotary", "loss", 128)
    3.0
    """

    def __init__(self, results: Sequence[Result]) -> None:
        self.results = tuple(results)

    def groups(self) -> list[str]:
        """In the order of the runs."""
        return list(dict.fromkeys(result.run.group for result in self.results))

    def variants(self, group: str) -> list[str]:
        """In the order of the runs."""
        own = (result for result in self.results if result.run.group == group)
        return list(dict.fromkeys(variant for result in own for variant in result.measured))

    def measures(self, group: str) -> list[str]:
        """In the order in which they were taken."""
        own = (result for result in self.results if result.run.group == group)
        return list(dict.fromkeys(name for result in own for series in result.measured.values() for name in series))

    def series(self, group: str, variant: str, measure: str) -> dict[int, Series]:
        """One series for each seed."""
        return dict(self._series(group, variant, measure))

    def places(self, group: str, measure: str) -> list[float | None]:
        """Where the measure was taken, in rising order; [None] for one that is one number."""
        found = {
            place
            for variant in self.variants(group)
            for series in self.series(group, variant, measure).values()
            for place in series.at
        }
        return [*sorted(found)] or [None]

    def by_seed(self, group: str, variant: str, measure: str, at: float | None = None) -> dict[int, float]:
        """The number of each seed."""
        numbers = {seed: series.value(at) for seed, series in self._series(group, variant, measure)}
        return {seed: number for seed, number in numbers.items() if number is not None}

    def mean(self, group: str, variant: str, measure: str, at: float | None = None) -> float | None:
        """Over seeds; None where nothing was measured."""
        numbers = self.by_seed(group, variant, measure, at)
        return fmean(numbers.values()) if numbers else None

    def _series(self, group: str, variant: str, measure: str) -> Iterator[tuple[int, Series]]:
        for result in self.results:
            series = result.measured.get(variant, {}).get(measure)
            if result.run.group == group and series is not None:
                yield result.run.seed, series
