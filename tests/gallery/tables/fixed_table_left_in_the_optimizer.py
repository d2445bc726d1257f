"""A table of sinusoids drifts in training: it was wrapped in nn.Parameter, and asks for gradients."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier, sinusoids


class Fixed(Classifier):
    def __init__(self, *, trains: bool) -> None:
        super().__init__()
        self.positions = nn.Parameter(sinusoids(64), requires_grad=trains)

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions[: tokens.shape[1]]
        return x


def faulty(_: Path) -> nn.Module:
    return Fixed(trains=True)


def healthy(_: Path) -> nn.Module:
    return Fixed(trains=False)


ITEM = Fault(
    source="page: torch documentation of Module.register_buffer",
    check="PE210",
    where="positions",
    right=r"buffer|requires_grad",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
