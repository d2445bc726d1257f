"""The loss at the end of training.

Narang et al. 2021, arXiv:2102.11972, compare changes of the Transformer by it, beside scores on tasks.
"""

import math
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar, final

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("training_loss")
@final
@dataclass(frozen=True)
class TrainingLoss(Measure):
    """The mean training loss over the last `share` of the steps, one step at least."""

    info: ClassVar[MeasureInfo] = MeasureInfo("training_loss", "training loss at the end", "nats", "", "lower")
    share: float = 0.1

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise GnomonError(f"The measure training_loss takes a share above 0 and up to 1, got {self.share}.")

    def take(self, trained: Trained, context: Context) -> Series:
        losses = trained.history.losses
        if not losses:
            return Series.number(None, "nothing was trained")
        return Series.number(fmean(losses[-max(1, math.floor(self.share * len(losses))) :]))
