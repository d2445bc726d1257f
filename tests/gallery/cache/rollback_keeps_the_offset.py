"""A cache that is cut back after rejected drafts keeps its offset: the next token stands behind tokens that are gone.

Keys and values have the right length, so nothing fails; only rotations and position rows are those of a later place.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Filling, Offsets
from tests.helpers.gallery_decoding import tokens


class LateOffset(Offsets):
    """Remembers the longest it has been."""

    longest: Any = 0

    def crop(self, count: int) -> None:
        self.longest = self.offset
        super().crop(count)


class Late(Filling):
    def make_cache(self) -> Offsets:
        return LateOffset()

    def turned(self, layer: int, qkv: tuple[Tensor, ...], cache: Offsets) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = qkv
        start = max(cache.offset, getattr(cache, "longest", 0))
        positions = (start + torch.arange(q.shape[2]))[None]
        k, v = cache.add(layer, self.rotate(k, positions), v)
        return self.rotate(q, positions), k, v


def faulty(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return tokens(Late())


def healthy(folder: Path) -> tuple[nn.Module, dict[str, Tensor]]:
    return tokens(Filling())


ITEM = Fault(
    source="huggingface/transformers#30042",
    check="PE407",
    where="",
    right="cut back by crop.*the next token has position 4",
    build=faulty,
    healthy=healthy,
)
