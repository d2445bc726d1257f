"""Text loops with batched caches: the cache moves the offset in place before the queries are turned."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Filling, Offsets
from tests.helpers.gallery_decoding import tokens


class Aliased(Filling):
    def turned(self, layer: int, qkv: tuple[Tensor, ...], cache: Offsets) -> tuple[Tensor, Tensor, Tensor]:
        q, k, v = qkv
        offset = cache.offset
        k = self.rotate(k, (offset + torch.arange(q.shape[2]))[None])
        k, v = cache.add(layer, k, v)
        cache.offset += q.shape[2]  # the same tensor as `offset`
        return self.rotate(q, (offset + torch.arange(q.shape[2]))[None]), k, v


def faulty(_: Path) -> Any:
    return tokens(Aliased(layers=1))


def healthy(_: Path) -> Any:
    return tokens(Filling(layers=1))


ITEM = Fault(
    source="ml-explore/mlx-lm#1699",
    check="PE403",
    where="the cache",
    right=r"it uses position 1, not position 0",
    build=faulty,
    healthy=healthy,
)
