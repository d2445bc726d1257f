"""The sinusoid's base is 1,000: a zero too few, in a notebook whose earlier cell has another table of the same name."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier, sinusoids


class Notebook(Classifier):
    pe: Tensor

    def __init__(self, base: float) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoids(64, base=base))

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.pe[: tokens.shape[1]]
        return x


def faulty(_: Path) -> nn.Module:
    return Notebook(1000.0)


def healthy(_: Path) -> nn.Module:
    return Notebook(10_000.0)


ITEM = Fault(
    source="page: xrsrke/stable-diffusion-from-scratch, notebook",
    check="PE203",
    where="pe",
    right=r"follow base 1000, not 10000.*with base 10000",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
