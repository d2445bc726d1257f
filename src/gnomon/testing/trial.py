"""What the clauses of the contract share: random inputs, the results of all hooks, and comparison with numbers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, final

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from gnomon.encodings.base import PositionEncoding

VECTOR_HOOKS = ("embed", "rotate_query", "rotate_key")
#: What float32 arithmetic may differ by, relative to the largest value: a few roundings of 2^-24 each.
ROUNDING = 2e-6

Vector = Callable[[list[float], Any], list[float]]
Rows = list[list[float]]


@final
@dataclass(frozen=True)
class Reference:
    """The formula of an encoding in plain Python floats, one function for each hook; None: that hook does nothing.

    `embed`, `rotate_query` and `rotate_key` take one vector and its position. `bias` takes a head, a query position and
    a key position. `content_bias` takes a head, the queries and the keys of that head as lists of vectors, and the
    positions of both, and gives a list of numbers for each query; under `causal_only` those of later keys are not read.
    A position is a number, or a list of coordinates where the encoding has several `axes`.
    """

    embed: Vector | None = None
    rotate_query: Vector | None = None
    rotate_key: Vector | None = None
    bias: Callable[[int, Any, Any], float] | None = None
    content_bias: Callable[[int, Rows, Rows, list[Any], list[Any]], Rows] | None = None


class ClauseError(Exception):
    """One clause does not hold; the message has the numbers."""


@final
@dataclass(frozen=True)
class Inputs:
    """What the hooks take: x (B, S, W), q and k (B, H, S, D), positions (B, S) or, with coordinates, (B, S, axes)."""

    x: Float[Tensor, "B S W"]
    q: Float[Tensor, "B H S D"]
    k: Float[Tensor, "B H S D"]
    positions: Int64[Tensor, "B S *axes"]

    def tokens(self, index: list[int]) -> Self:
        return replace(
            self,
            x=self.x[:, index],
            q=self.q[:, :, index],
            k=self.k[:, :, index],
            positions=self.positions[:, index],
        )

    def rows(self, index: list[int]) -> Self:
        return replace(self, x=self.x[index], q=self.q[index], k=self.k[index], positions=self.positions[index])

    def shifted(self, shift: int | Int64[Tensor, "..."]) -> Self:
        return replace(self, positions=self.positions + shift)

    def to(self, dtype: torch.dtype) -> Self:
        return replace(self, x=self.x.to(dtype), q=self.q.to(dtype), k=self.k.to(dtype))


@final
@dataclass(frozen=True)
class Trial:
    """One encoding under examination, with the sizes of the model that it is for."""

    encoding: PositionEncoding
    reference: Reference | None
    num_heads: int
    head_dim: int
    dim: int

    @property
    def limits(self) -> tuple[int | None, ...]:
        """How many positions there are along each axis; None: no limit."""
        axes = self.encoding.axes
        return (self.encoding.max_length,) if axes == 1 else self.encoding.grid or (None,) * axes

    @property
    def room(self) -> int:
        """Positions 0 .. room - 1 are used along each axis, unless a clause goes far out on purpose."""
        return min((limit for limit in self.limits if limit is not None), default=64)

    def inputs(self) -> Inputs:
        """Two rows of up to seven tokens; the first starts at 0, the second ends at the last position in use."""
        generator = torch.Generator().manual_seed(0)
        length = max(1, min(self.room - 1, 7))
        room = min(self.room, 64)

        def draw(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator)

        return Inputs(
            x=draw(2, length, self.dim),
            q=draw(2, self.num_heads, length, self.head_dim),
            k=draw(2, self.num_heads, length, self.head_dim),
            positions=self.spread(torch.arange(length) + torch.tensor([[0], [room - length]])),
        )

    def scattered(self) -> Inputs:
        """The same tokens at rising positions with gaps of 1 to hundreds, scaled down where there is a limit.

        Consecutive positions alone would leave most buckets of distances unseen, and half precision unnoticed.
        """
        inputs = self.inputs()
        places = torch.tensor([[0, 2, 11, 59, 300, 301, 1199], [5, 23, 107, 563, 570, 1003, 1006]])
        if self.limits[0] is not None:
            places = places * min(self.room, 64) // 1200
        return replace(inputs, positions=self.spread(places[:, : inputs.positions.shape[1]]))

    def spread(self, places: Int64[Tensor, "B S"]) -> Int64[Tensor, "B S *axes"]:
        """Positions from places along the first axis; along others the places come in other orders."""
        if self.encoding.axes == 1:
            return places
        return torch.stack([places.roll(axis, -1) for axis in range(self.encoding.axes)], dim=-1)

    def visible(self, inputs: Inputs) -> Bool[Tensor, "1 1 S S"]:
        """Which token sees which: under `causal_only` those before it and itself, else all."""
        size = inputs.positions.shape[1]
        seen = torch.ones(size, size, dtype=torch.bool)
        return (seen.tril() if self.encoding.causal_only else seen)[None, None]

    def run(self, inputs: Inputs, encoding: PositionEncoding | None = None) -> dict[str, Tensor]:
        """The results of all hooks by name; those that add nothing are left out."""
        encoding = self.encoding if encoding is None else encoding
        x, q, k, at = inputs.x, inputs.q, inputs.k, inputs.positions
        results: dict[str, Tensor | None] = {
            "embed": encoding.embed(x, at),
            "rotate_query": encoding.rotate_query(q, at),
            "rotate_key": encoding.rotate_key(k, at),
            "bias": encoding.bias(at, at),
            "content_bias": encoding.content_bias(q, k, at, at),
        }
        full = (*q.shape[:3], k.shape[2])
        return {
            name: value if name in VECTOR_HOOKS else value.expand(full)
            for name, value in results.items()
            if value is not None
        }


def require_same(got: dict[str, Tensor], want: dict[str, Tensor], what: str, tolerance: float = ROUNDING) -> None:
    """Raise ClauseError unless the same hooks gave the same numbers, shapes and dtypes."""
    if got.keys() != want.keys():
        raise ClauseError(f"{what}: hooks {sorted(got)} give something where {sorted(want)} did.")
    for name in want:
        require_close(got[name], want[name], f"{what}: {name}", tolerance)


def require_close(got: Tensor, want: Tensor, what: str, tolerance: float = ROUNDING) -> None:
    """Raise ClauseError unless shape and dtype are equal and no value is off by over tolerance * max(1, max|want|)."""
    if got.shape != want.shape:
        raise ClauseError(f"{what} has shape {tuple(got.shape)}, expected {tuple(want.shape)}.")
    if got.dtype != want.dtype:
        raise ClauseError(f"{what} is {got.dtype}, expected {want.dtype}.")
    if not got.isfinite().all():
        raise ClauseError(f"{what} holds NaN or Inf.")
    bound = tolerance * max(1.0, want.abs().max().item())
    error = (got.double() - want.double()).abs().max().item()
    if not error <= bound:
        raise ClauseError(f"{what} differs by {error:.3g}, allowed is {bound:.3g}.")
