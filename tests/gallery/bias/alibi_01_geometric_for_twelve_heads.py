"""Wrong slopes for 12 heads: one geometric series is used for every number of heads.

The published rule has eight slopes 2^-1 to 2^-8, then 0.7071, 0.3536, 0.1768, 0.0884; the faulty list starts 0.63,
0.397, 0.25.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped, alibi


class Right(Sloped):
    heads = 12


class Wrong(Right):
    def slopes(self) -> Tensor:
        return 2.0 ** (-8.0 * torch.arange(1, 13) / 12)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="ml-explore/mlx#343, ml-explore/mlx#3071",
    check="PE308",
    where="blocks.*",
    right=r"0.003906, 0.7071, 0.3536, 0.1768, 0.08839",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (alibi(12),)},
)
