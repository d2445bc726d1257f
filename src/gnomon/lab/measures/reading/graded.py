"""Measures of how right answers are, by length."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool
from torch import Tensor

from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.answers import Decoding, graded, require_decoding
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.tasks.base import Batch


@dataclass(frozen=True)
class OfAnswers(ByLength):
    """One number for each length, from which scored slots of `rows` fresh rows are right; see `answers`."""

    lengths: list[int] | None = None
    rows: int = 200
    decoding: Decoding = "teacher"

    def __post_init__(self) -> None:
        require_decoding(self.info.name, self.decoding)
        require_counts(self.info.name, rows=self.rows)

    @abstractmethod
    def of_slots(self, right: Bool[Tensor, "B S"], scored: Bool[Tensor, "B S"]) -> float:
        """From whether each slot is right, and whether it counts; a slot that does not count is not right."""

    @final
    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        return trained.task.batch("test", length, self.rows, generator)

    @final
    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        return self.of_slots(*graded(trained, batch, generator, self.decoding))
