"""Perplexity of segments that do not overlap, by their length: Press et al. 2022, arXiv:2108.12409, section 2.

Tokens at the beginning of a segment have little before them, and short segments have more such tokens, so this number
falls with length for a model that uses no more context at all. `last_k_perplexity` is free of that.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.errors import GnomonError
from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.checking import require_counts, text_of
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.measures.reading.pieces import token_losses
from gnomon.lab.tasks.base import Batch
from gnomon.report.lab.results import MeasureInfo


@registry.register("perplexity")
@final
@dataclass(frozen=True)
class Perplexity(ByLength):
    """exp of the mean loss over the first `total` tokens of the test text, cut into segments of each length.

    Every length scores the same tokens once, so `total` is a multiple of each.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "perplexity", "perplexity, non-overlapping", axis="length", better="lower", scale="log"
    )
    lengths: list[int]
    total: int = 16384

    def __post_init__(self) -> None:
        require_counts(self.info.name, total=self.total, length=min(self.lengths, default=0))
        uneven = [length for length in self.lengths if self.total % length]
        if uneven:
            raise GnomonError(
                f"The measure perplexity scores the same {self.total} tokens at every length, and "
                f"{', '.join(map(str, uneven))} does not divide it; choose a total that is a multiple of each length."
            )

    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        text = text_of(trained, self.info.name)
        return text.segments(self.total if length is None else length, self.total)

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        return math.exp(float(token_losses(trained, batch, generator).nanmean()))
