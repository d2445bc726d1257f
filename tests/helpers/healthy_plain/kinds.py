"""Sizes and the kind of builder that all plain models share."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

VOCABULARY, WIDTH, HEADS, LENGTH = 60, 32, 4, 64
HEAD_DIM = WIDTH // HEADS

Target = nn.Module | tuple[nn.Module, Any]
Builder = Callable[[], Target]


def seeded(build: Builder) -> Builder:
    """The same weights on every call, and dropout off."""

    def run() -> Target:
        torch.manual_seed(0)
        built = build()
        (built[0] if isinstance(built, tuple) else built).eval()
        return built

    return run


def tokens(*shape: int, seed: int = 1) -> Tensor:
    return torch.randint(5, VOCABULARY, shape, generator=torch.Generator().manual_seed(seed))


def numbers(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def split(x: Tensor) -> Tensor:
    """(B, S, W) -> (B, H, S, W / H)."""
    heads: Tensor = x.unflatten(-1, (HEADS, -1))
    return heads.transpose(1, 2)


def joined(x: Tensor) -> Tensor:
    """(B, H, S, D) -> (B, S, H * D)."""
    return x.transpose(1, 2).flatten(2)


def mixer(width: int = WIDTH) -> nn.Sequential:
    """The feed-forward part of a block."""
    return nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))
