"""A width that is odd: the paper's table then has one sine more than cosines, and is as right as any other."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike


class Odd(nn.Module):
    """Width 15: eight sines, seven cosines."""

    pe: Tensor

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        angles = torch.arange(40)[:, None] * 10_000.0 ** (-torch.arange(0, 15, 2) / 15)
        table = torch.zeros(40, 15)
        table[:, ::2], table[:, 1::2] = angles.sin(), angles.cos()[:, :7]
        self.register_buffer("pe", table)
        self.words, self.mix = nn.Embedding(40, 15), nn.MultiheadAttention(15, 3, batch_first=True)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.words(tokens) + self.pe[: tokens.shape[1]]
        mixed: Tensor = x + self.mix(x, x, x)[0]
        return mixed


def build(_: Path) -> nn.Module:
    return Odd()


ITEM = LookAlike(source="gc-os-ai/pyaptamer#607, huggingface/transformers#8226", build=build, passes=("PE203", "PE208"))
