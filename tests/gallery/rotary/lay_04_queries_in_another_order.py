"""Scores are wrong where one of two code paths writes rotated neighbours as evens, then odds, and the other does not.

With lanes 0 to 7 at position 0 the output is 0, 2, 4, 6, 1, 3, 5, 7. As long as queries and keys share the order,
scores stay right, and only a cache that is exchanged shows it; here the keys come from the path without it.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, neighbours, tables


class Reordered(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, self.head_dim)
        a, b = x[..., 0::2], x[..., 1::2]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def attend(self, q: Tensor, k: Tensor, v: Tensor, places: Tensor, layer: int) -> Tensor:
        cached = super().turn(k, places, layer)
        cos, sin = (table.repeat_interleave(2, dim=-1) for table in tables(places, self.head_dim))
        cached = k * cos + neighbours(k) * sin
        logits = self.products(self.turn(q, places, layer), cached)
        return logits.softmax(-1) @ v


class Right(Reordered):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        a, b = super().turn(x, positions, layer).chunk(2, dim=-1)
        return torch.stack((a, b), dim=-1).flatten(-2)


def faulty(folder: Path) -> nn.Module:
    return Reordered()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="vllm-project/vllm-metal#44",
    check="PE312",
    where="blocks.*",
    right=r"queries turn lanes 0 and 4, 1 and 5 together, keys 0 and 1, 2 and 3",
    build=faulty,
    healthy=healthy,
)
