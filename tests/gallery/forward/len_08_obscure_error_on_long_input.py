"""Long audio ends in a tensor-size mismatch: the sinusoid module silently gives only as many rows as it has."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


class Checked(Sinusoids):
    def forward(self, x: Tensor) -> Tensor:
        if x.shape[1] > 100:
            raise ValueError(f"An input of {x.shape[1]} frames is too long; the table has 100 rows.")
        return super().forward(x)


def faulty(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM, rows=100, batch_first=True), batch_first=True)


def healthy(folder: Path) -> nn.Module:
    return Stack(Checked(DIM, rows=100, batch_first=True), batch_first=True)


ITEM = Fault(
    source="speechbrain/speechbrain#2071",
    check="PE323",
    where="the forward",
    right=r"the longest input is 100 tokens.*obscure error.*given \(101\) and the longest allowed \(100\)",
    build=faulty,
    healthy=healthy,
    severity="note",
)
