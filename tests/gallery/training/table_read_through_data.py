"""The loss falls, but the position table ends training as it began.

Cause: the forward indexes `weight.data`, which autograd does not see.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class Detached(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.positions.weight.data[ids]
        return x


def faulty(folder: Path) -> Toy:
    return Detached()


def healthy(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: torch documentation of autograd, Tensor.detach",
    check="PE501",
    where="positions.weight",
    right="index the parameter itself",
    build=faulty,
    healthy=healthy,
)
