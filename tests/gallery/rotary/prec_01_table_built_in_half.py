"""The table of sines is badly off: positions and frequencies are multiplied in the model's half precision.

A table that is built in float32 and cast afterwards is off by 0.002 at most; built in bfloat16 over 2,048 places, by
1.995.
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
        return positions[..., None].bfloat16() * self.inverse.bfloat16()


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="EleutherAI/gpt-neox#1003",
    check="PE301",
    where="blocks.0",
    right=r"neighbouring positions stay distinct.*angles in float32",
    build=faulty,
    healthy=healthy,
)
