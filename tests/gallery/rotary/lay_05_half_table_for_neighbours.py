"""Nothing fails and the loss is worse: cos and sin are repeated for halves, the rotation turns neighbours.

The two lanes of a pair get two angles, so that vectors change their length (0.971 of it in the report) and scores of
one distance differ from place to place.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, neighbours, tables


class Mixed(Form):
    """Neighbours turned by tables that are repeated for halves."""

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, self.head_dim)
        return x * torch.cat((cos, cos), dim=-1) + neighbours(x) * torch.cat((sin, sin), dim=-1)


class Right(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = (table.repeat_interleave(2, dim=-1) for table in tables(positions, self.head_dim))
        return x * cos + neighbours(x) * sin


def faulty(folder: Path) -> nn.Module:
    return Mixed()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="NVIDIA/Megatron-LM#3900",
    check="PE307",
    where="blocks.*",
    right=r"pairs are interleaved but cos and sin are arranged half.*repeat_interleave.2.",
    build=faulty,
    healthy=healthy,
)
