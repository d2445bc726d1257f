"""A forecast is blurred in time: positions were scaled to 0 ... 10, and cut to whole numbers to read the table.

Only eleven rows of the table are ever read, and neighbours in time share one.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import sinusoids


class Series(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.project, self.table = nn.Linear(3, 32), nn.Buffer(sinusoids(200, 32))
        self.mix = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)

    def places(self, length: int) -> Tensor:
        return torch.arange(length)

    def forward(self, values: Tensor) -> Tensor:
        x: Tensor = self.mix(self.project(values) + self.table[self.places(values.shape[1])])
        return x


class Scaled(Series):
    def places(self, length: int) -> Tensor:
        return (torch.linspace(0, 1, length) * 10).long()


EXAMPLE = (torch.zeros(2, 24, 3),)


def faulty(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return Scaled(), EXAMPLE


def healthy(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return Series(), EXAMPLE


ITEM = Fault(
    source="page: torch documentation of torch.linspace (floats; the cast to whole numbers cuts)",
    check="PE324",
    where="mix",
    right=r"neighbours share a position.*torch\.arange\(length\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
