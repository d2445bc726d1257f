"""How often one token of an answer, or one label, is right, by length.

Ruoss et al. 2023, arXiv:2305.16843, score tokens so. An answer that is written token by token is scored token by token
too: telling the model the right tokens before each slot raises the number of those that lose their place.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.answers import Decoding, graded, require_decoding
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("token_accuracy")
@final
@dataclass(frozen=True)
class TokenAccuracy(ByLength):
    """The share of scored slots, over `rows` fresh rows, at which the most likely class is the right one.

    decoding="teacher": each slot is told the right tokens before it, the only way for tasks that label their slots.
    decoding="greedy": the model reads its own answer as it writes it, through the cache of keys and values; a token
    counts where it stands in its right place.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("token_accuracy", "token accuracy", "share", "length", "higher")
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
        return float(right.sum() / scored.sum())
