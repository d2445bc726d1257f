"""Nothing fails and far tokens look near: the exponent counts pairs, and is still divided by the width.

i / d runs from 0 to 1/2 only, so that base 10000 turns as base 100 would, and the slowest pair is round in 199 tokens.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, halves


class Turning(Form):
    """Rotates halves; its exponents are twice the number of the pair, over the width."""

    def exponents(self) -> Tensor:
        return torch.arange(0, self.head_dim, 2).float() / self.head_dim

    def turn(self, x: Tensor, positions: Tensor, layer: int) -> Tensor:
        angles = (positions[..., None].float() * 10000.0 ** -self.exponents())[:, None]
        angles = torch.cat((angles, angles), dim=-1)
        return x * angles.cos() + halves(x) * angles.sin()


class Short(Turning):
    def exponents(self) -> Tensor:
        return torch.arange(self.head_dim // 2).float() / self.head_dim


def faulty(folder: Path) -> nn.Module:
    return Short()


def healthy(folder: Path) -> nn.Module:
    return Turning()


ITEM = Fault(
    source="page: arXiv 2104.09864 (section 3.2.2: the exponent is 2i / d)",
    check="PE330",
    where="blocks",
    right=r"follow base 100: the slowest pair goes round in 199 positions.*exponent 2i / r",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
