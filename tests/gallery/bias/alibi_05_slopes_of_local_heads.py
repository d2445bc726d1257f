"""Wrong slopes on every rank but the first: slopes are made from the number of heads that a rank holds.

Eight heads on two ranks: the second should hold 2^-5 to 2^-8, and gets the list for four heads, 2^-2 to 2^-8.
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
        return 2.0 ** (-2.0 * torch.arange(1, 5)).repeat(2)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="bigscience-workshop/Megatron-DeepSpeed#227, flashinfer-ai/flashinfer#1606",
    check="PE308",
    where="blocks.*",
    right=r"0.5, 0.25, 0.125, 0.0625, 0.03125, 0.01562, 0.007812, 0.003906",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (alibi(8),)},
)
