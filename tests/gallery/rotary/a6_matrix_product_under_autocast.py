"""An image turns into one flat colour inside autocast: angles are a matrix product, which autocast runs in bfloat16.

Positions are far out there, where bfloat16 is coarser than the distance between neighbours. Elementwise, the same
product keeps float32.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Angles


class Rounded(Angles):
    def angles(self, positions: Tensor) -> Tensor:
        return positions[..., None].float() @ self.inverse[None]


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="huggingface/diffusers#13920",
    check="PE301",
    where="blocks.0",
    right=r"under autocast.bfloat16..*stay distinct.*autocast off",
    build=faulty,
    healthy=healthy,
)
