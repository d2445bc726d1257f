"""Attention by distance in a row of one word, repeated: identical-word probing, Wang et al. 2021, ICLR."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_probe
from gnomon.lab.measures.reading.identical import identical_word_maps
from gnomon.lab.measures.reading.lengths import series, too_long
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("identical_word")
@final
@dataclass(frozen=True)
class IdenticalWord(Measure):
    """The attention that a key at each distance gets in one `layer`, over that of keys which share it evenly.

    A mean over heads, words (a geometric mean over words) and pairs of slots, to the left and to the right where the
    model sees both. 1 everywhere: positions do not matter there.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "identical_word", "attention among identical words", "of an even share", "distance"
    )
    length: int = 32
    words: int = 32
    layer: int = 1

    def __post_init__(self) -> None:
        require_probe(self.info.name, length=self.length, rows=2)

    def take(self, trained: Trained, context: Context) -> Series:
        deepest = len(trained.model.stack.blocks)
        if not 1 <= self.layer <= deepest:
            raise GnomonError(f"The measure identical_word takes a layer from 1 to {deepest}, got {self.layer}.")
        distances = range(self.length)
        if not trained.fits(self.length):
            return Series(tuple(distances), (None,) * self.length, too_long(trained))
        maps = identical_word_maps(trained, context, self.info.name, length=self.length, words=self.words)
        return series(distances, by_distance(maps[self.layer - 1]))


def by_distance(logits: Float[Tensor, "H S S"]) -> list[float]:
    """The mean share at each distance 0 .. S - 1, over an even share; -inf where a key is hidden."""
    seen = logits[0].isfinite()
    even = 1 / seen.sum(-1, keepdim=True)
    share = logits.softmax(-1).mean(0) / even
    slots = torch.arange(len(seen))
    distance = (slots[:, None] - slots).abs()
    return [float(share[seen & (distance == far)].mean()) for far in slots.tolist()]
