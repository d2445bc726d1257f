"""A rotary cache is built in the dtype of the token ids: its first row is 1, and almost all others are 0."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.pairwise_llama import BASE, WIDTH, Trained


class Cached(Trained):
    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__(interleaved=False)
        angles = torch.arange(64)[:, None] * BASE ** (-torch.arange(0, WIDTH, 2) / WIDTH)
        self.register_buffer("rope_cache", torch.stack([angles.cos(), angles.sin()], dim=-1).to(dtype))

    def rotate(self, x: Tensor) -> Tensor:
        cos, sin = self.get_buffer("rope_cache")[: x.shape[2]].unbind(-1)
        a, b = x.chunk(2, dim=-1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)


def faulty(_: Path) -> nn.Module:
    return Cached(torch.int64)


def healthy(_: Path) -> nn.Module:
    return Cached(torch.float32)


ITEM = Fault(
    source="Lightning-AI/litgpt#227",
    check="PE221",
    where="rope_cache",
    right=r"int64.*build the cache in float32",
    build=faulty,
    healthy=healthy,
)
