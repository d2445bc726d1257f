"""Speed of a forward pass: what Press et al. 2022, arXiv:2108.12409, table 1, compare in words for each second."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.clock import relative_speed
from gnomon.lab.measures.reading.twins import BesideNoPE, forward
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("speed")
@final
@dataclass(frozen=True)
class Speed(BesideNoPE):
    """Tokens for each second of a forward pass, over those of the same weights without an encoding.

    The two run in turns, and the median of `repeats` pairs counts: a ratio carries over to other machines, seconds do
    not. 1: the encoding costs nothing.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("speed", "speed of a forward pass", "of NoPE's", "length", "higher")
    repeats: int = 7

    def __post_init__(self) -> None:
        require_counts(self.info.name, rows=self.rows, repeats=self.repeats, length=min(self.lengths, default=0))

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        return relative_speed(trained, batch, forward, self.repeats)
