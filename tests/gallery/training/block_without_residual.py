"""The upper half of an encoder ignores order.

Cause: one block gives back the mean of its inputs and a feed-forward part of it, without the residual path.
"""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.toys import Layer, Toy


class Pooled(Layer):
    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        generator = torch.Generator().manual_seed(0)
        noise = torch.randn(x.shape, generator=generator)
        mixed: Tensor = self.mix(x.mean(1, keepdim=True) + 0.1 * noise)
        return mixed


def faulty(folder: Path) -> Toy:
    model = Toy(layers=3)
    model.layers[1] = Pooled()
    return model


def healthy(folder: Path) -> Toy:
    return Toy(layers=3)


ITEM = Fault(
    source="page: docs/article.md, item 33, carried to every block",
    check="PE509",
    where="layers.1",
    right="residual path of this block",
    build=faulty,
    healthy=healthy,
    severity="note",
)
