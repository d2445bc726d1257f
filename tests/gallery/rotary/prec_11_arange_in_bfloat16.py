"""Places repeat: positions are counted by arange in bfloat16, which gives 256, 256, 258, 260, 260, 260 after 255.

Each token gets the place of its own count, and the counts of neighbours coincide.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Angles


class Rounded(Angles):
    def angles(self, positions: Tensor) -> Tensor:
        return torch.arange(int(positions.max()) + 1, dtype=torch.bfloat16)[positions][..., None].float() * self.inverse


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="pytorch/pytorch#137774",
    check="PE301",
    where="blocks.0",
    right=r"neighbouring positions stay distinct.*keep ids int64",
    build=faulty,
    healthy=healthy,
)
