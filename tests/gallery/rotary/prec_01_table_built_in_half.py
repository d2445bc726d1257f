"""The table of sines is badly off: positions and frequencies are multiplied in the model's half precision.

A table that is built in float32 and cast afterwards is off by 0.002 at most; built in bfloat16 over 2,048 places, by
1.995.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Angles


class Rounded(Angles):
    def angles(self, positions: Tensor) -> Tensor:
        return positions[..., None].bfloat16() * self.inverse.bfloat16()


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Angles()


ITEM = Fault(
    source="EleutherAI/gpt-neox#1003",
    check="PE301",
    where="blocks.0",
    right=r"neighbouring positions stay distinct.*angles in float32",
    build=faulty,
    healthy=healthy,
)
