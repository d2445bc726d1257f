"""How soon training comes down to a loss, by which Shallue et al. 2019, arXiv:1811.03600, compare training."""

from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, final

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("steps_to_target")
@final
@dataclass(frozen=True)
class StepsToTarget(Measure):
    """The first step at which the mean loss of the last `window` steps is `target` nats or less; steps count from 1.

    None when that never happens, and for training of fewer steps than the window.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("steps_to_target", "steps to the target loss", "steps", "", "lower")
    target: float
    window: int = 20

    def __post_init__(self) -> None:
        require_counts(self.info.name, window=self.window)

    def take(self, trained: Trained, context: Context) -> Series:
        sums = list(accumulate(trained.history.losses, initial=0.0))
        means = [(high - low) / self.window for low, high in zip(sums, sums[self.window :], strict=False)]
        reached = (step for step, mean in enumerate(means, start=self.window) if mean <= self.target)
        first = next(reached, None)
        if first is not None:
            return Series.number(first)
        seen = f"the lowest mean of {self.window} steps is {min(means):.3f}" if means else "there are too few steps"
        return Series.number(None, f"{seen}, the target {self.target:g}")
