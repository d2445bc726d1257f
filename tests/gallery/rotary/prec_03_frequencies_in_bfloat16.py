"""An error that grows with the position in float32: the frequencies were rounded before the product.

One rounding of the inverse frequencies to bfloat16 is off by up to 0.4 %; cosines at place 4,096 are then useless.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, halves, inverse, rotary


class Rounded(Form):
    def frequencies(self) -> Tensor:
        return inverse(self.head_dim).bfloat16().float()

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = positions[:, None, :, None] * self.frequencies()
        cos, sin = (torch.cat((table, table), dim=-1) for table in (angles.cos(), angles.sin()))
        return x * cos + halves(x) * sin


class Right(Rounded):
    def frequencies(self) -> Tensor:
        return inverse(self.head_dim)


def faulty(folder: Path) -> nn.Module:
    return Rounded()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="sgl-project/sglang-jax#1472",
    check="PE307",
    where="blocks.*",
    right=r"frequencies.*(recompute the frequencies|base).*",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (rotary(8),)},
)
