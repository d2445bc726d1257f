"""The loss of small models blows up: the rotation counts heads instead of tokens.

Queries are kept as (batch, sequence, heads, width) while the tables are laid out for (batch, heads, sequence, width),
so that every token is turned alike and every head by another angle.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, Rotated, halves, rotary, tables


class AlongHeads(Form):
    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        cos, sin = tables(torch.arange(self.heads)[None], self.head_dim)
        cos, sin = (torch.cat((table, table), dim=-1).transpose(1, 2) for table in (cos, sin))
        return x * cos + halves(x) * sin


def faulty(folder: Path) -> nn.Module:
    return AlongHeads()


def healthy(folder: Path) -> nn.Module:
    return Rotated()


ITEM = Fault(
    source="mlfoundations/open_lm#4",
    check="PE313",
    where="blocks",
    right=r"2 of 2 layers .0, 1. do not rotate",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (rotary(8),)},
)
