"""How often all of an answer is right, by length: Kazemnejad et al. 2023, arXiv:2305.19466, section 3."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.answers import Decoding, graded, require_decoding
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("exact_match")
@final
@dataclass(frozen=True)
class ExactMatch(ByLength):
    """The share of `rows` fresh rows in which every scored slot is right.

    An answer that is right slot by slot when the right tokens before it are given is the one that greedy decoding
    writes, so decoding="teacher", one pass, gives the number of decoding="greedy", one pass for each token.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("exact_match", "exact match", "share", "length", "higher")
    lengths: list[int] | None = None
    rows: int = 200
    decoding: Decoding = "teacher"

    def __post_init__(self) -> None:
        require_decoding(self.info.name, self.decoding)
        require_counts(self.info.name, rows=self.rows)

    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        return trained.task.batch("test", length, self.rows, generator)

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        right, scored = graded(trained, batch, generator, self.decoding)
        return float((right == scored).all(-1).double().mean())
