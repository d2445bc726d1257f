"""bfloat16 vectors come out of the rotation as float32: the complex64 table promotes them."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.components import RotaryEmbedding


class Complex(RotaryEmbedding):
    def turned(self, x: Tensor) -> Tensor:
        angles = self.angles(x.shape[-2])
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


class Kept(Complex):
    def turned(self, x: Tensor) -> Tensor:
        return super().turned(x).to(x.dtype)


def faulty(folder: Path) -> nn.Module:
    return Complex(interleaved=True)


def healthy(folder: Path) -> nn.Module:
    return Kept(interleaved=True)


ITEM = Fault(
    source="patrick-kidger/equinox#836",
    check="PE328",
    where="the module",
    right=r"torch.bfloat16 goes in and torch.float32 comes out.*\.to\(x.dtype\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
