"""The CLS token has no position of its own, and the first row of the table is never used.

Cause: patches are given positions from 1 up, to leave room for CLS; CLS itself is joined later and gets none.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault

PATCHES, WIDTH = 4, 16


class Patches(nn.Module):
    """CLS and four patches; `joined` says when CLS comes in."""

    def __init__(self, *, joined: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.patch, self.positions = nn.Linear(6, WIDTH), nn.Embedding(PATCHES + 1, WIDTH)
        self.cls = nn.Parameter(torch.randn(1, 1, WIDTH))
        self.layer = nn.TransformerEncoderLayer(WIDTH, 2, 24, dropout=0.0, batch_first=True)
        self.joined = joined

    def forward(self, x: Tensor) -> Tensor:
        x, cls = self.patch(x), self.cls.expand(len(x), -1, -1)
        if self.joined:
            x = torch.cat((cls, x), dim=1)
            x = x + self.positions(torch.arange(x.shape[1]))
        else:
            x = torch.cat((cls, x + self.positions(torch.arange(x.shape[1]) + 1)), dim=1)
        out: Tensor = self.layer(x)
        return out


def faulty(folder: Path) -> tuple[Patches, tuple[Tensor]]:
    return Patches(joined=False), (torch.randn(2, PATCHES, 6),)


def healthy(folder: Path) -> tuple[Patches, tuple[Tensor]]:
    return Patches(joined=True), (torch.randn(2, PATCHES, 6),)


ITEM = Fault(
    source="NVIDIA/Megatron-LM#6260",
    check="PE512",
    where="positions.weight",
    right="position 0 .row 0.; count positions after special tokens are joined",
    build=faulty,
    healthy=healthy,
    evidence={"batches": [{"x": torch.randn(2, PATCHES, 6)}]},
    severity="warning",
)
