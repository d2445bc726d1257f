"""A notebook computes its sinusoids with base 1,000: a zero is missing, in code that stores no table.

With eight columns the frequencies are 1, 0.178, 0.0316, 0.00562, where base 10,000 has 1, 0.1, 0.01, 0.001.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form, inverse


class Sinusoids(Form):
    base = 10_000.0

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        angles = positions[..., None] * inverse(self.heads * self.head_dim, self.base).to(tokens.device)
        x: Tensor = self.words(tokens) + torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
        return x


class ShortOfAZero(Sinusoids):
    base = 1_000.0


def faulty(folder: Path) -> nn.Module:
    return ShortOfAZero()


def healthy(folder: Path) -> nn.Module:
    return Sinusoids()


ITEM = Fault(
    source="page: xrsrke/stable-diffusion-from-scratch",
    check="PE309",
    where="blocks.0",
    right="follow base 1000, not 10000 as published.*base 10000",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
