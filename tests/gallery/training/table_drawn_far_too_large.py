"""Training hardly changes positions: their step is a thousandth of that of the words.

Cause: the table was drawn with standard deviation 50 beside words of 0.02; an Adam step is as long for both.
"""

from pathlib import Path

from torch import nn
from torch.optim import Adam, Optimizer

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


def _drawn(std: float) -> Toy:
    model = Toy()
    nn.init.normal_(model.words.weight, std=0.02)
    nn.init.normal_(model.positions.weight, std=std)
    return model


def faulty(folder: Path) -> Toy:
    return _drawn(50.0)


def healthy(folder: Path) -> Toy:
    return _drawn(0.02)


def adam(module: nn.Module) -> Optimizer:
    return Adam(module.parameters(), lr=1e-3)


ITEM = Fault(
    source="page: Karpathy, makemore part 3 (update against size)",
    check="PE507",
    where="positions.weight",
    right=r"positions stay where they are.*std 0\.02",
    build=faulty,
    healthy=healthy,
    evidence={"optimizer": adam},
    severity="warning",
)
