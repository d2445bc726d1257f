"""The work of the rotary benchmarks: queries, keys and tables of one shape, and how far an answer is from float64's."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Complex128, Float
from torch import Tensor

from gnomon.kernels.rotation import Layout

BASE = 10000.0
SEED = 20261130
Pair = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class Shape:
    """Sizes of queries and keys; `first` is the position of the first token."""

    batch: int
    heads: int
    key_heads: int
    length: int
    width: int
    first: int = 0

    def __str__(self) -> str:
        heads = f"{self.heads}" if self.heads == self.key_heads else f"{self.heads}/{self.key_heads}"
        return f"B{self.batch} H{heads} L{self.length} D{self.width}"


@dataclass(frozen=True)
class Rotation:
    """One shape, dtype and layout with random queries and keys, and cos and sin of their positions in float32."""

    shape: Shape
    dtype: torch.dtype
    layout: Layout

    @cached_property
    def inputs(self) -> Pair:
        """Queries (B, H, S, D) and keys (B, G, S, D), normally distributed; the same for the same shape."""
        made = torch.Generator().manual_seed(SEED)
        sizes = ((self.shape.batch, heads, self.shape.length, self.shape.width) for heads in self._heads)
        q, k = (torch.randn(size, generator=made).to(self.dtype) for size in sizes)
        return q, k

    @cached_property
    def by_token(self) -> Pair:
        """The same queries and keys as (B, S, H, D), contiguous."""
        q, k = (x.transpose(1, 2).contiguous() for x in self.inputs)
        return q, k

    @cached_property
    def positions(self) -> Tensor:
        """(1, S) int64."""
        return torch.arange(self.shape.first, self.shape.first + self.shape.length)[None]

    @cached_property
    def angles(self) -> Tensor:
        """(S, P) float64, in radians."""
        pairs = torch.arange(0, self.shape.width, 2, dtype=torch.float64)
        return self.positions[0, :, None] * BASE ** (-pairs / self.shape.width)

    @cached_property
    def tables(self) -> Pair:
        """cos and sin, (S, P) float32."""
        return self.angles.cos().float(), self.angles.sin().float()

    @property
    def largest(self) -> int:
        """Bytes of the queries."""
        return self.inputs[0].nbytes

    @property
    def _heads(self) -> tuple[int, int]:
        return self.shape.heads, self.shape.key_heads

    def copies(self) -> Pair:
        """Queries and keys in memory of their own."""
        q, k = (x.clone() for x in self.inputs)
        return q, k

    def error(self, answer: Callable[[], Pair], *, by_token: bool = False, back: bool = False) -> float:
        """The largest difference of rotated queries and keys from what complex numbers in float64 give.

        `by_token`: the answer is (B, S, H, D). `back`: it is turned by minus the angles, as gradients are.
        """
        turn = torch.polar(torch.ones_like(self.angles), -self.angles if back else self.angles)
        return max(
            deviation
            for x, y in zip(self.inputs, answer(), strict=True)
            for deviation in self._deviations(x, y.detach().transpose(1, 2) if by_token else y.detach(), turn)
        )

    def _deviations(
        self, x: Float[Tensor, "B H S D"], y: Float[Tensor, "B H S D"], turn: Complex128[Tensor, "S P"]
    ) -> Iterator[float]:
        for head in range(x.shape[1]):
            exact = self._members(torch.view_as_real(self._complex(x[:, head].double()) * turn))
            yield float((y[:, head].double() - exact).abs().max())

    def _complex(self, x: Float[Tensor, "B S D"]) -> Tensor:
        if self.layout == "interleaved":
            return torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
        return torch.view_as_complex(x.unflatten(-1, (2, -1)).transpose(-1, -2).contiguous())

    def _members(self, pairs: Float[Tensor, "B S P 2"]) -> Float[Tensor, "B S D"]:
        return (pairs if self.layout == "interleaved" else pairs.transpose(-1, -2)).flatten(-2)
