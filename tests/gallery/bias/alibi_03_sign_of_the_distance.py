"""An example of a bias favours far tokens: query and key are swapped in the distance.

Slope 0.5 and five keys with equal scores: the oldest gets 0.058 of the weight, with the sign flipped 0.429.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped


class Causal(Sloped):
    def distance(self, length: int) -> Tensor:
        places = torch.arange(length)
        return places[:, None] - places


class Flipped(Causal):
    def distance(self, length: int) -> Tensor:
        return -super().distance(length)


def faulty(folder: Path) -> nn.Module:
    return Flipped()


def healthy(folder: Path) -> nn.Module:
    return Causal()


ITEM = Fault(
    source="meta-pytorch/attention-gym#86",
    check="PE308",
    where="blocks.*",
    right=r"grows with distance.*sign is flipped.*subtract slope times distance",
    build=faulty,
    healthy=healthy,
)
