"""A model of six heads gets the first six slopes of eight: the list for the next power of two is not thinned out.

Right for six: 0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped, alibi


class Right(Sloped):
    heads = 6


class Wrong(Right):
    def slopes(self) -> Tensor:
        return 2.0 ** -torch.arange(1.0, 7.0)


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="huggingface/transformers#28380",
    check="PE308",
    where="blocks.*",
    right=r"published rule: 0.25, 0.0625, 0.01562, 0.003906, 0.5, 0.125",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (alibi(6),)},
)
