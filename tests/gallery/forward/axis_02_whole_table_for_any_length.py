"""With batch-first data only inputs as long as the table run: the branch for them cuts the batch axis of the table."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import WORDS, Sinusoids, Stack
from tests.helpers.toys import DIM

ROWS = 50


class CutsTheBatch(Sinusoids):
    def forward(self, x: Tensor) -> Tensor:
        out: Tensor = x + self.pe[: x.size(0)]  # type: ignore[index]
        return out


def faulty(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return Stack(CutsTheBatch(DIM, rows=ROWS, batch_first=True), batch_first=True), (torch.zeros(3, ROWS).long(),)


def healthy(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return Stack(Sinusoids(DIM, rows=600, batch_first=True), batch_first=True), (torch.zeros(3, WORDS).long(),)


ITEM = Fault(
    source="KasperGroesLudvigsen/influenza_transformer#9",
    check="PE323",
    where="the forward",
    right=r"exactly 50 tokens.*table\[:, : x.shape\[1\]\]",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
