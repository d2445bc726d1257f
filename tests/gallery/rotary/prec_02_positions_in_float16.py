"""Tokens at the end of a long window share one position: the vector of positions is cast to float16.

3,073 of the first 4,096 stay distinct; near 32,768 neighbours are 16 apart.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, halves, inverse


class Angles(Form):
    """Rotates halves by what `angles` gives."""

    def __init__(self) -> None:
        super().__init__()
        self.inverse = nn.Buffer(inverse(self.head_dim), persistent=False)

    def angles(self, positions: Tensor) -> Tensor:
        return positions[..., None].float() * self.inverse

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = self.angles(positions).float()[:, None]
        cos, sin = (torch.cat((table, table), dim=-1) for table in (angles.cos(), angles.sin()))
        return x * cos + halves(x) * sin


class Rounded(Angles):
    def angles(self, positions: Tensor) -> Tensor:
        return positions.half()[..., None].float() * self.inverse


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="NVIDIA/Megatron-LM#535",
    check="PE301",
    where="blocks.0",
    right=r"neighbouring positions stay distinct.*keep ids int64",
    build=faulty,
    healthy=healthy,
)
