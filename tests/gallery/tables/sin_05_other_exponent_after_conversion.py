"""Two published sinusoids look the same and are not: the exponent counts to d/2 in one and to d/2 - 1 in the other.

Whisper's encoder uses the second. A conversion that fills its table by the paper's formula changes every frequency but
the first.
"""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only


def halves(rows: int, dims: int, steps: int) -> Tensor:
    """Sines, then cosines; frequencies fall from 1 by the base 10,000 in `steps` steps."""
    angles = torch.arange(rows)[:, None] * 10_000.0 ** (-torch.arange(dims // 2, dtype=torch.float64) / steps)
    return torch.cat([angles.sin(), angles.cos()], dim=1).float()


def build(folder: Path, *, paper: bool) -> Path:
    def fill(tensors: dict[str, Tensor]) -> None:
        name = only(tensors, "encoder.embed_positions")
        rows, dims = tensors[name].shape
        tensors[name] = halves(rows, dims, dims // 2 if paper else dims // 2 - 1)

    return edited(folder, "whisper", fill)


def faulty(folder: Path) -> Path:
    return build(folder, paper=True)


def healthy(folder: Path) -> Path:
    return build(folder, paper=False)


ITEM = Fault(
    source="tensorflow/tensor2tensor#1423, hojonathanho/diffusion#15",
    check="PE203",
    where="encoder.embed_positions.weight",
    right=r"exponents are those of base\^\(-2i/d\).*frequencies as base\^\(-i/\(d/2-1\)\)",
    build=faulty,
    healthy=healthy,
)
