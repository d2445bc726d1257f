"""Identical-word probing: what attention makes of a row in which one word stands everywhere; Wang et al. 2021, ICLR.

No word tells one key from another, so whatever differs between keys is the work of positions and of the mask.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained
from gnomon.lab.measures.reading.attention import attention_maps
from gnomon.lab.measures.reading.checking import require_probe
from gnomon.lab.measures.reading.lengths import by_layer
from gnomon.lab.measures.reading.pieces import pieces_for_maps
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.report.lab.results import Series


def identical_word_maps(
    trained: Trained, context: Context, name: str, *, length: int, words: int
) -> list[Float[Tensor, "H S S"]]:
    """For each layer the mean, over `words` words, of the logarithm of the attention; -inf where a key is hidden.

    With fewer words in the vocabulary, all of them.
    """
    generator = context.generator("measure", name)
    chosen = torch.randperm(trained.task.vocabulary, generator=generator)[:words]
    ids = chosen[:, None].repeat(1, length)
    total: list[Tensor] = []
    for piece in pieces_for_maps(trained, Batch(ids, torch.full_like(ids, IGNORED))):
        sums = [layer.double().sum(0) for layer in attention_maps(trained, piece, generator)]
        total = [old + new for old, new in zip(total, sums, strict=True)] if total else sums
    return [layer / len(chosen) for layer in total]


@dataclass(frozen=True)
class OfIdenticalWords(Measure):
    """One number for each layer, of its mean attention in rows of `length` identical words, over `words` words."""

    flat: ClassVar[str] = ""  #: why a layer may have no number
    length: int = 32
    words: int = 32

    def __post_init__(self) -> None:
        require_probe(self.info.name, length=self.length, rows=2)

    @abstractmethod
    def of_layer(self, logits: Float[Tensor, "H S S"]) -> float:
        """From the logarithms of attention, -inf where a key is hidden; NaN where there is no number."""

    @final
    def take(self, trained: Trained, context: Context) -> Series:
        def read() -> list[float]:
            maps = identical_word_maps(trained, context, self.info.name, length=self.length, words=self.words)
            return [self.of_layer(layer) for layer in maps]

        return by_layer(trained, self.length, read, flat=self.flat)
