"""A rotation of pairs, recognised by its numbers: two products whose factors square-sum to a constant in each pair."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

Layout = Literal["half", "interleaved"]
Axis = Literal["sequence", "batch", "heads"]
Product = tuple[Tensor, Tensor]
CONSTANT = 0.02  # cos^2 + sin^2 may differ this much between rows: tables in bfloat16 do by 0.01


@dataclass(frozen=True)
class Rotation:
    """One rotation as the forward did it.

    `cos`, `sin`: (B or 1, S, pairs) float64, one column a pair. `direction` is +1 when the pair (a, b) goes to
    (a cos - b sin, b cos + a sin). `table_layout` is how the tables are arranged when they are as wide as the vectors;
    it must be the layout of the pairs; "unseen" when the rotation was read off its result, which does not tell `factor`
    either. `axis` is "sequence", or "batch" or "heads" when the angles vary along that instead.
    """

    where: str
    layout: Layout
    direction: Literal[1, -1]
    cos: Tensor
    sin: Tensor
    rotary_dim: int
    table_layout: Layout | Literal["mixed", "unseen"]
    axis: Axis = "sequence"

    @property
    def factor(self) -> float:
        """What the rotation multiplies lengths by: 1, or a scaling rule's attention factor."""
        return float((self.cos.square() + self.sin.square()).sqrt().median())

    def angles(self) -> Tensor:
        """(B or 1, S, pairs) in (-pi, pi], with the sign of the direction."""
        return torch.atan2(self.sin, self.cos) * self.direction


def rotation_of_full(
    first: Product, second: Product, length: int, where: str, older_first: Callable[[Product, Product], bool]
) -> Rotation | None:
    """x * cos + turned(x) * sin, tables as wide as x; the order of the two products and of their factors is free.

    `older_first` tells the vector from the turned one: by numbers alone, turned(x) sin + x cos is also a turn of
    turned(x), the other way, by the angle less a quarter.
    """
    for (x, cos), (turned, sin) in _arrangements(first, second):
        if (
            not older_first((x, cos), (turned, sin))
            or x.shape != turned.shape
            or cos.shape[-1] != x.shape[-1]
            or x.shape[-1] % 2
            or x.shape[-1] < 4
        ):
            continue
        for layout, direction, expected in _turns(x):
            if torch.equal(turned, expected):
                return _full(x, cos, sin, layout, direction, length, where)
    return None


def rotation_of_halves(minuend: Product, subtrahend: Product, length: int, where: str) -> Rotation | None:
    """a * cos - b * sin, where a and b are two interleaved or half views of one vector."""
    for (a, cos), (b, sin) in _arrangements(minuend, subtrahend):
        layout = layout_of_views(a, b)
        tables = _tables(a, cos, sin, length) if layout and cos.shape[-1] == a.shape[-1] else None
        if layout is not None and tables is not None:
            direction: Literal[1, -1] = 1 if b.storage_offset() > a.storage_offset() else -1
            return Rotation(where, layout, direction, tables[0], tables[1], 2 * a.shape[-1], layout, tables[2])
    return None


def layout_of_views(a: Tensor, b: Tensor) -> Layout | None:
    """How two views of one vector pair its lanes; None when they are not two such views."""
    if a.shape != b.shape or a.stride() != b.stride() or a.data_ptr() == b.data_ptr():
        return None
    if a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr():
        return None
    return "interleaved" if b.storage_offset() - a.storage_offset() in (1, -1) else "half"


def rotation_of_complex(a: Tensor, b: Tensor, length: int, where: str, layout: Layout) -> Rotation | None:
    """A product of complex numbers, one of them on the unit circle (or a circle)."""
    for x, turn in ((a, b), (b, a)):
        if not (x.is_complex() and turn.is_complex()) or x.shape[-1] != turn.shape[-1] or turn.numel() > x.numel():
            continue
        tables = _tables(x.real, turn.real, turn.imag, length)
        if tables is not None:
            return Rotation(where, layout, 1, tables[0], tables[1], 2 * x.shape[-1], layout, tables[2])
    return None


def _arrangements(first: Product, second: Product) -> list[tuple[Product, Product]]:
    """Each way to call one factor of each product the vector and the other the table."""
    flips = [(p, q) for p in (first, first[::-1]) for q in (second, second[::-1])]
    fitting = [(p, q) for p, q in flips if p[0].ndim == q[0].ndim >= 3 and min(p[1].ndim, q[1].ndim) >= 2]
    return fitting + [(q, p) for p, q in fitting]


def _turns(x: Tensor) -> list[tuple[Layout, Literal[1, -1], Tensor]]:
    a, b = x.chunk(2, dim=-1)
    even, odd = x[..., 0::2], x[..., 1::2]
    half = torch.cat((-b, a), dim=-1)
    interleaved = torch.stack((-odd, even), dim=-1).flatten(-2)
    return [("half", 1, half), ("interleaved", 1, interleaved), ("half", -1, -half), ("interleaved", -1, -interleaved)]


def _full(
    x: Tensor, cos: Tensor, sin: Tensor, layout: Layout, direction: Literal[1, -1], length: int, where: str
) -> Rotation | None:
    tables = _tables(x, cos, sin, length)
    if tables is None:
        return None
    wide_cos, wide_sin, axis = tables
    arranged = _arranged(wide_cos, wide_sin, layout)
    take = slice(0, x.shape[-1] // 2) if (layout if arranged == "mixed" else arranged) == "half" else slice(0, None, 2)
    return Rotation(where, layout, direction, wide_cos[..., take], wide_sin[..., take], x.shape[-1], arranged, axis)


def _arranged(cos: Tensor, sin: Tensor, layout: Layout) -> Layout | Literal["mixed"]:
    """How a table as wide as the vector repeats its columns; the layout of the pairs wins a tie."""
    wide = torch.cat((cos, sin), dim=-2)
    repeats: dict[Layout, bool] = {
        "half": torch.equal(wide[..., : wide.shape[-1] // 2], wide[..., wide.shape[-1] // 2 :]),
        "interleaved": torch.equal(wide[..., 0::2], wide[..., 1::2]),
    }
    if repeats[layout]:
        return layout
    return next((name for name, holds in repeats.items() if holds), "mixed")


def _tables(x: Tensor, cos: Tensor, sin: Tensor, length: int) -> tuple[Tensor, Tensor, Axis] | None:
    """cos and sin as (B or 1, S, columns) float64 if they lie on a circle and vary along one axis; else None."""
    if cos.shape != sin.shape or cos.is_complex() or cos.ndim > x.ndim or x.ndim < 3:
        return None
    shape = (1,) * (x.ndim - cos.ndim) + tuple(cos.shape)
    pair = [t.detach().double().reshape(shape) for t in (cos, sin)]
    radius = pair[0].square() + pair[1].square()
    middle = radius.median()
    if not torch.isfinite(middle) or middle <= 0 or (radius - middle).abs().max() > CONSTANT * middle:
        return None
    # (S, B, H, D) is last: with as many rows as tokens, (B, ...) is likelier.
    axes = [i for i in (*range(1, x.ndim - 1), 0) if shape[i] == length and x.shape[i] == length]
    if not axes:
        astray = _astray(x, shape, length)
        if astray is None:
            return None
        return pair[0].reshape(1, -1, shape[-1]), pair[1].reshape(1, -1, shape[-1]), astray
    moved = [t.movedim(axes[0], 1) for t in pair]
    flat = [t.reshape(t.shape[0], length, -1, shape[-1])[:, :, 0] for t in moved]
    return flat[0], flat[1], "sequence"


def _astray(x: Tensor, shape: tuple[int, ...], length: int) -> Axis | None:
    """The axis that tables of this shape vary along, alone, where it is not the sequence."""
    varying = [i for i, n in enumerate(shape[:-1]) if n > 1]
    if len(varying) != 1 or shape[varying[0]] != x.shape[varying[0]]:
        return None
    if varying[0] == 0:
        return "batch"
    # (B, H, S, D) or (B, S, H, D): of the two axes in the middle, the other one must be the sequence
    return "heads" if x.ndim == 4 and x.shape[3 - varying[0]] == length else None
