"""A model exported for one length gives other words at another: buckets are computed from the length at hand.

The same distance must have the same bucket in inputs of 8 and of 16 tokens; the largest relative distance of the
config sets it.
"""

import math
from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form


class Right(Form):
    """Distances in logarithmic buckets up to `furthest`, one number each."""

    furthest = 64

    def __init__(self) -> None:
        super().__init__()
        self.numbers = nn.Embedding(8, self.heads)
        nn.init.normal_(self.numbers.weight)

    def bias(self, length: int) -> Tensor:
        places = torch.arange(length)
        distance = (places[:, None] - places).clamp(min=0)
        bucket = (distance + 1).log() / math.log(self.longest(length) + 1) * 8
        numbers: Tensor = self.numbers(bucket.long().clamp(max=7))
        return numbers.permute(2, 0, 1)

    def longest(self, length: int) -> int:
        return self.furthest


class Wrong(Right):
    def longest(self, length: int) -> int:
        return length


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="NVIDIA/TensorRT#3370",
    check="PE311",
    where="blocks.*",
    right=r"between an input of 13 tokens and one of 19.*fixed largest distance",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
