"""A video model trains, and its rotary pairs are two angles each: tables are tiled where they should be interleaved.

The frequencies of each lane are written as repeat(2) in place of repeat_interleave(2), in code with its own spelling
of the rotation.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, tables


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Written lane by lane, in place."""
    out = torch.empty_like(x)
    out[..., 0::2] = x[..., 0::2] * cos[..., 0::2] - x[..., 1::2] * sin[..., 0::2]
    out[..., 1::2] = x[..., 1::2] * cos[..., 1::2] + x[..., 0::2] * sin[..., 1::2]
    return out


class Tiled(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = (table.repeat(1, 1, 1, 2) for table in tables(positions, self.head_dim))
        return rotated(x, cos, sin)


class Right(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = (table.repeat_interleave(2, dim=-1) for table in tables(positions, self.head_dim))
        return rotated(x, cos, sin)


def faulty(folder: Path) -> nn.Module:
    return Tiled()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="facebookresearch/vjepa2#15",
    check="PE312",
    where="blocks.*",
    right=r"do not turn by one angle.*repeat_interleave.2. for neighbours",
    build=faulty,
    healthy=healthy,
)
