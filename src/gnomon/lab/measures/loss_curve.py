"""The training loss along training: what figure 3 of Su et al. 2021, arXiv:2104.09864, draws."""

from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, final

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("loss_curve")
@final
@dataclass(frozen=True)
class LossCurve(Measure):
    """The mean training loss of each run of `window` steps; a run is named by its last step, and steps count from 1.

    Steps that do not fill a last run are left out. No numbers for training of fewer steps than a run has.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("loss_curve", "training loss", "nats", "step", "lower")
    window: int = 50

    def __post_init__(self) -> None:
        require_counts(self.info.name, window=self.window)

    def take(self, trained: Trained, context: Context) -> Series:
        losses = trained.history.losses
        ends = range(self.window, len(losses) + 1, self.window)
        if not ends:
            return Series.number(None, f"there are {len(losses)} steps, fewer than the {self.window} of one number")
        return Series(tuple(ends), tuple(fmean(losses[end - self.window : end]) for end in ends))
