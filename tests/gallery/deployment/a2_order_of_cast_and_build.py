"""A cache of cosines is built when first needed, from frequencies that were cast by then: order decides."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Turned, angles, frequencies


class BuiltFromTheCast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("inv_freq", frequencies(), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).float(), self.get_buffer("inv_freq").float())
        return phases.cos().to(x.dtype), phases.sin().to(x.dtype)


class BuiltBeforeTheCast(nn.Module):
    """A finished table: rounding it to bfloat16 costs 0.004 of a cosine."""

    def __init__(self) -> None:
        super().__init__()
        cos, sin = angles(600)
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.get_buffer("cos")[: x.shape[1]], self.get_buffer("sin")[: x.shape[1]]


def faulty(folder: Path) -> nn.Module:
    return Turned(BuiltFromTheCast())


def healthy(folder: Path) -> nn.Module:
    return Turned(BuiltBeforeTheCast())


ITEM = Fault(
    source="huggingface/transformers#25681",
    check="PE601",
    where="layers.",
    right=r"at position 51[01].*restore the float32 frequencies",
    build=faulty,
    healthy=healthy,
    severity="note",
)
