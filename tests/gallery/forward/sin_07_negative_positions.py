"""Negative positions read the table from its end: row -3 of a table of 50 is row 47, and not sin(-3 f), cos(-3 f)."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import sinusoid_rows
from tests.helpers.toys import DIM, Toy


class LooksUp(Toy):
    def __init__(self) -> None:
        super().__init__()
        del self.positions
        self.register_buffer("table", sinusoid_rows(torch.arange(50), DIM), persistent=False)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.table[ids]  # type: ignore[index]
        return x


class Computes(LooksUp):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + sinusoid_rows(ids.flatten(), DIM).unflatten(0, ids.shape)
        return x


def faulty(folder: Path) -> nn.Module:
    return LooksUp()


def healthy(folder: Path) -> nn.Module:
    return Computes()


ITEM = Fault(
    source="asyml/texar-pytorch#77",
    check="PE324",
    where="position_ids",
    right=r"ids -3 to -1 read rows 47 to 49.*sin\(-3 f\) is not row 47",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
