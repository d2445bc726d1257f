"""Every slope is one step too steep: the exponent is counted from 0.

Eight heads: 0.5 down to 0.00390625; the faulty list is 1.0 down to 0.0078125, twice of each.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped, alibi


class Right(Sloped):
    heads = 8


class Wrong(Right):
    def slopes(self) -> Tensor:
        return 2.0 ** -torch.arange(8.0)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="paiml/aprender#2143",
    check="PE308",
    where="blocks.*",
    right=r"2 times the published one.*slopes 2..-8h/H",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (alibi(8),)},
)
