"""Speed of training: what Press et al. 2022, arXiv:2108.12409, table 1, compare in words for each second."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.clock import relative_speed
from gnomon.lab.measures.reading.twins import BesideNoPE, forward_and_backward
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("training_speed")
@final
@dataclass(frozen=True)
class TrainingSpeed(BesideNoPE):
    """Tokens for each second of a forward and a backward pass, over those of the same weights without an encoding.

    Measured as `speed` is; the optimizer's step, the same for both, is left out.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("training_speed", "speed of training", "of NoPE's", "length", "higher")
    repeats: int = 7

    def __post_init__(self) -> None:
        require_counts(self.info.name, rows=self.rows, repeats=self.repeats, length=min(self.lengths, default=0))

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        return relative_speed(trained, batch, forward_and_backward, self.repeats)
