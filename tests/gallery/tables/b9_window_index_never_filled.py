"""A windowed backbone fails with an index out of bounds: its index of offsets holds whatever the memory held.

The buffer is made with `torch.empty` and filled in a reset that a wrapper around the model never calls.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault

SIDE = 7


class WindowAttention(nn.Module):
    relative_position_index: Tensor

    def __init__(self, *, filled: bool) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * SIDE - 1) ** 2, 2) * 0.02)
        index = torch.full((SIDE**2, SIDE**2), 93_824_992_231_312)  # what torch.empty found there
        self.register_buffer("relative_position_index", self.offsets() if filled else index, persistent=False)

    @staticmethod
    def offsets() -> Tensor:
        place = torch.arange(SIDE**2)
        down = (place // SIDE)[:, None] - place // SIDE
        right = (place % SIDE)[:, None] - place % SIDE
        return (down + SIDE - 1) * (2 * SIDE - 1) + right + SIDE - 1

    def forward(self, x: Tensor) -> Tensor:
        """(B, 49, 8)"""
        q, k, v = self.qkv(x).view(len(x), SIDE**2, 3, 2, 4).permute(2, 0, 3, 1, 4)
        bias = self.relative_position_bias_table[self.relative_position_index].permute(2, 0, 1)
        mixed: Tensor = (q @ k.transpose(2, 3) / 2 + bias).softmax(-1) @ v
        return mixed.transpose(1, 2).flatten(2)


def faulty(_: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return WindowAttention(filled=False), (torch.randn(2, SIDE**2, 8),)


def healthy(_: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return WindowAttention(filled=True), (torch.randn(2, SIDE**2, 8),)


ITEM = Fault(
    source="huggingface/pytorch-image-models#2661",
    check="PE214",
    where="relative_position_index",
    right=r"rows 0 to 168",
    build=faulty,
    healthy=healthy,
)
