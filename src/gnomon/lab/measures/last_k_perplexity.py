"""Perplexity of the same last tokens after more and more context: the protocol of DAPE, Zheng et al. 2024,
arXiv:2405.14722."""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.checking import require_endings, text_of
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.measures.reading.pieces import token_losses
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("last_k_perplexity")
@final
@dataclass(frozen=True)
class LastKPerplexity(ByLength):
    """exp of the mean loss of the `last` tokens of rows of each length, at `rows` places of the test text.

    The scored tokens are the same at every length; only how much comes before them differs.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "last_k_perplexity", "perplexity, last tokens", axis="length", better="lower", scale="log"
    )
    lengths: list[int]
    last: int = 32
    rows: int = 64

    def __post_init__(self) -> None:
        require_endings(self.info.name, self.lengths, last=self.last, rows=self.rows)

    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        text, longest = text_of(trained, self.info.name), max(self.lengths)
        return text.endings(length or longest, last=self.last, rows=self.rows, longest=longest)

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        return math.exp(float(token_losses(trained, batch, generator).nanmean()))
