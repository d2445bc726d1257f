"""A checkpoint does not load, and positions beyond the first batch's length are not trained.

Cause: the forward makes a longer nn.Parameter whenever an input is longer than the table; the optimizer holds
the first.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import DIM, Toy


class Grown(Toy):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(4, DIM))

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        if tokens.shape[1] > len(self.table):
            self.table = nn.Parameter(torch.randn(tokens.shape[1], DIM))
        x: Tensor = self.words(tokens) + self.table[ids]
        return x


def faulty(folder: Path) -> Toy:
    return Grown()


def healthy(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: torch documentation of torch.optim (parameters are held by identity)",
    check="PE516",
    where="table",
    right="make it once at construction",
    build=faulty,
    healthy=healthy,
)
