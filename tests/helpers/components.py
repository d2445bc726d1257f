"""Bare position modules, as people write them: right as they stand, wrong by one option."""

import warnings
from typing import Any

import torch
from torch import Tensor, nn


class AddsRows(nn.Module):
    """x + table for (B, S, W); `axis` is the dimension of x whose length cuts the table."""

    def __init__(self, table: Tensor, *, axis: int = 1, batch_first: bool | None = None) -> None:
        super().__init__()
        self.axis = axis
        if batch_first is not None:
            self.batch_first = batch_first
        self.register_buffer("pe", table)

    def forward(self, x: Tensor) -> Tensor:
        rows: Tensor = self.pe[: x.shape[self.axis]]  # type: ignore[index]
        return x + (rows if self.axis == 1 else rows[:, None])


class PositionalEncoding(AddsRows):
    """Sinusoids of 100 positions and width 16."""

    def __init__(
        self, *, axis: int = 1, batch_first: bool | None = None, base: float = 10_000.0, start: int = 0
    ) -> None:
        rates = base ** (-torch.arange(0, 16, 2) / 16)
        angles = (torch.arange(100) + start)[:, None] * rates
        table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)
        super().__init__(table, axis=axis, batch_first=batch_first)


class RotaryEmbedding(nn.Module):
    """Turns queries and keys (B, H, S, D) by their place."""

    def __init__(self, dim: int = 16, *, interleaved: bool = False, start: int = 0) -> None:
        super().__init__()
        self.dim, self.interleaved, self.start, self.base = dim, interleaved, start, 10_000.0

    def frequencies(self) -> Tensor:
        return self.base ** (-torch.arange(0, self.dim, 2) / self.dim)

    def angles(self, length: int) -> Tensor:
        return (torch.arange(length) + self.start)[:, None] * self.frequencies()

    def turned(self, x: Tensor) -> Tensor:
        angles = self.angles(x.shape[-2])
        cos, sin = angles.cos().to(x), angles.sin().to(x)
        a, b = (x[..., ::2], x[..., 1::2]) if self.interleaved else x.chunk(2, dim=-1)
        parts = (a * cos - b * sin, a * sin + b * cos)
        return torch.stack(parts, dim=-1).flatten(-2) if self.interleaved else torch.cat(parts, dim=-1)

    def forward(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        return self.turned(q), self.turned(k)


class AlibiBias(nn.Module):
    """(H, S, S) for so many places."""

    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.num_heads = heads

    def slopes(self) -> Tensor:
        return 2.0 ** (-8.0 * torch.arange(1, self.num_heads + 1) / self.num_heads)

    def distances(self, length: int) -> Tensor:
        places = torch.arange(length)
        return (places[:, None] - places).abs()

    def forward(self, seq_len: int) -> Tensor:
        return -self.slopes()[:, None, None] * self.distances(seq_len)


def library_modules() -> dict[str, Any]:
    """Modules that libraries offer."""
    with warnings.catch_warnings():  # importing them warns of torch.jit
        warnings.simplefilter("ignore", DeprecationWarning)
        from rotary_embedding_torch import RotaryEmbedding as Lucidrains
        from x_transformers import x_transformers as x

    torch.manual_seed(0)
    return {
        "rotary-embedding-torch": Lucidrains(32),
        "x-transformers rotary": x.RotaryEmbedding(32),
        "x-transformers alibi": x.AlibiPositionalBias(8, 8),
        "x-transformers t5": x.RelativePositionBias(1.0, heads=4),
        "x-transformers sinusoids": x.ScaledSinusoidalEmbedding(16),
    }
