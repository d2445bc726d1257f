"""Small models' losses blow up: rotary turns heads by their number, and not tokens by their place.

Queries (B, S, H, D) are handed to code that expects (B, H, S, D): all tokens of a head are turned alike.
"""

from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.gallery.item import Fault
from tests.helpers.components import RotaryEmbedding
from tests.helpers.toys import DIM, HEADS, Layer, Toy


class Rotated(Layer):
    axis = 1  #: 1: (B, H, S, D), as the rotation wants it; 2: (B, S, H, D)

    def __init__(self) -> None:
        super().__init__()
        self.rotary = RotaryEmbedding(DIM // HEADS)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        q, k = (t.transpose(1, self.axis) for t in self.rotary(q.transpose(1, self.axis), k.transpose(1, self.axis)))
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2))
        out: Tensor = x + self.mix(x)
        return out


class AlongHeads(Rotated):
    axis = 2


class Rotary(Toy):
    def __init__(self, layer: type[Rotated]) -> None:
        super().__init__()
        del self.positions
        torch.manual_seed(1)
        self.layers = nn.ModuleList([layer() for _ in range(2)])

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x


def faulty(folder: Path) -> nn.Module:
    return Rotary(AlongHeads)


def healthy(folder: Path) -> nn.Module:
    return Rotary(Rotated)


ITEM = Fault(
    source="mlfoundations/open_lm#4",
    check="PE302",
    where="",
    right="reordering the tokens changes nothing",
    build=faulty,
    healthy=healthy,
)
