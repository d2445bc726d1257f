"""Accuracy falls with length: a quarter of each head is rotated, but a lane is paired with the one half a head away.

The head has 16 lanes, 4 of them rotated. The right pairs are (0, 2) and (1, 3); the whole head was split in the
middle, which gives (0, 8) and (1, 9).
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, rotary, tables

ROTATED = 4


class Apart(Form):
    head_dim = 16

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, ROTATED)
        out, pairs, half = x.clone(), ROTATED // 2, x.shape[-1] // 2
        a, b = x[..., :pairs], x[..., half : half + pairs]
        out[..., :pairs] = a * cos - b * sin
        out[..., half : half + pairs] = b * cos + a * sin
        return out


class Right(Apart):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(positions, ROTATED)
        a, b, rest = x.split((ROTATED // 2, ROTATED // 2, x.shape[-1] - ROTATED), dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin, rest), dim=-1)


def faulty(folder: Path) -> nn.Module:
    return Apart()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="page:pie#602",
    check="PE312",
    where="blocks.*",
    right=r"lanes 0 and 8 are turned together; with 4 rotated lanes 0 belongs to 2",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (rotary(16, rotary_dim=ROTATED),)},
)
