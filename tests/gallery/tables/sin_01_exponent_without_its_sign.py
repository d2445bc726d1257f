"""A published encoding has wavelengths where frequencies belong: the minus sign of the exponent is missing."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier


class Tutorial(Classifier):
    pe: Tensor

    def __init__(self, sign: int) -> None:
        super().__init__()
        rate = torch.exp(sign * torch.arange(0, 32, 2) * (torch.log(torch.tensor(10_000.0)) / 32))
        angles = torch.arange(50)[:, None] * rate
        self.register_buffer("pe", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.pe[: tokens.shape[1]]
        return x


def faulty(_: Path) -> nn.Module:
    return Tutorial(1)


def healthy(_: Path) -> nn.Module:
    return Tutorial(-1)


ITEM = Fault(
    source="page: theneuralbase.com, positional-encoding-implementation",
    check="PE208",
    where="pe",
    right=r"rise|above pi",
    build=faulty,
    healthy=healthy,
)
