"""Tokens at the end of a long window share one position: the vector of positions is cast to float16.

3,073 of the first 4,096 stay distinct; near 32,768 neighbours are 16 apart.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Angles


class Rounded(Angles):
    def angles(self, positions: Tensor) -> Tensor:
        return positions.half()[..., None].float() * self.inverse


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="NVIDIA/Megatron-LM#535",
    check="PE301",
    where="blocks.0",
    right=r"neighbouring positions stay distinct.*keep ids int64",
    build=faulty,
    healthy=healthy,
)
