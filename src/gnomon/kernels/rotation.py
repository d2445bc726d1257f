"""Rotation of pairs, the hot operation of rotary encodings, and the angles that it needs.

The eager form, in plain torch: out of place, differentiable, and without a branch on data.
"""

import math
from collections.abc import Sequence
from typing import Literal

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError

Layout = Literal["half", "interleaved"]
LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")


def checked_layout(layout: Layout) -> Layout:
    """The layout itself; raises GnomonError unless it is known."""
    if layout not in LAYOUTS:
        raise GnomonError(f"The layout of a rotary encoding is one of {', '.join(LAYOUTS)}, got {layout!r}.")
    return layout


def rotated_width(head_dim: int, rotary_dim: int | None, *, axes: int = 1) -> int:
    """How many columns of a head turn, all by default; raises GnomonError unless each axis gets as many pairs."""
    width, each = head_dim if rotary_dim is None else rotary_dim, 2 * axes
    if not each <= width <= head_dim:
        raise GnomonError(f"The rotated width must be between {each} and the head width {head_dim}, got {width}.")
    if width % each:
        rule = "even" if axes == 1 else f"a multiple of {each}, for pairs on each of {axes} axes"
        fits = width - width % each
        raise GnomonError(
            f"Rotation works on pairs, so the rotated width must be {rule}, got {width}; use partial rotary: "
            f"rotary_dim={fits} turns {fits} of the {head_dim} columns."
        )
    return width


def require_head_width(x: Float[Tensor, "*B S D"], head_dim: int) -> None:
    """Raise ShapeError unless the vectors are as wide as the heads that a rotary encoding is for."""
    if x.shape[-1] != head_dim:
        raise ShapeError(f"The heads are {x.shape[-1]} wide but the rotary encoding is for {head_dim}.")


def angles(
    positions: Int[Tensor, "*BS"], inverse: Float64[Tensor, "*#BS pairs"], *, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*BS pairs"]:
    """position x inverse frequency in radians, reduced to [0, 2 pi). (..., S), (P,) or (..., 1, P) -> (..., S, P).

    The product and the reduction are in float64, so that the result is good to the last bit of float32 at any integer
    position: in float32 alone, the angle of position 10 000 000 is wrong by up to 0.5.

    >>> angles(torch.tensor([[1, 10_000_000]]), torch.ones(1, dtype=torch.float64))
    tensor([[[1.0000],
             [2.7075]]])
    """
    return reduced(positions.unsqueeze(-1).to(torch.float64) * inverse, dtype=dtype)


def axis_angles(
    coordinates: Int[Tensor, "*BS axes"] | Float64[Tensor, "*BS axes"],
    axis: Sequence[int],
    inverse: Float64[Tensor, " pairs"],
    *,
    dtype: torch.dtype = torch.float32,
) -> Float[Tensor, "*BS pairs"]:
    """As `angles`, with one coordinate for each pair: axis[i] is the one that pair i turns by. (..., axes) -> (..., P).

    >>> axis_angles(torch.tensor([[2, 5]]), (0, 1, 1), torch.tensor([1.0, 1.0, 0.5], dtype=torch.float64))
    tensor([[2.0000, 5.0000, 2.5000]])
    """
    return reduced(coordinates[..., list(axis)].to(torch.float64) * inverse, dtype=dtype)


def reduced(turned: Float64[Tensor, "*S"], *, dtype: torch.dtype) -> Float[Tensor, "*S"]:
    """Angles in radians brought to [0, 2 pi) in float64, and then to the dtype."""
    return torch.remainder(turned, 2 * math.pi).to(dtype)


def rotate(
    x: Float[Tensor, "*B S D"],
    cos: Float[Tensor, "*#B S pairs"],
    sin: Float[Tensor, "*#B S pairs"],
    *,
    layout: Layout,
) -> Float[Tensor, "*B S D"]:
    """Turn pair i by its angle: (a, b) -> (a cos - b sin, b cos + a sin). (..., S, D) -> (..., S, D), dtype of x.

    `cos` and `sin` are (..., S, P) in float32 or better, and broadcast over the leading axes. The first 2 P columns
    turn; the rest passes through. Pair i is columns (i, i + P) in layout "half" and (2 i, 2 i + 1) in "interleaved".
    The arithmetic is in the wider dtype of x and cos, and the result is cast once. (Su et al. 2021, arXiv:2104.09864.)

    >>> x = torch.tensor([[1.0, 2.0, 0.0, 0.0, 9.0]])
    >>> quarter_turn = torch.zeros(1, 2), torch.ones(1, 2)
    >>> rotate(x, *quarter_turn, layout="half")
    tensor([[0., 0., 1., 2., 9.]])
    >>> rotate(x, *quarter_turn, layout="interleaved")
    tensor([[-2.,  1.,  0.,  0.,  9.]])
    """
    width = 2 * cos.shape[-1]
    if width > x.shape[-1]:
        raise ShapeError(f"The angles turn {width} columns but the vectors have {x.shape[-1]}.")
    a, b = split_pairs(x if width == x.shape[-1] else x[..., :width], layout=layout)
    turned = join_pairs(a * cos - b * sin, b * cos + a * sin, layout=layout).to(x.dtype)
    return turned if width == x.shape[-1] else torch.cat((turned, x[..., width:]), dim=-1)


def split_pairs(
    x: Float[Tensor, "*B S D"], *, layout: Layout
) -> tuple[Float[Tensor, "*B S pairs"], Float[Tensor, "*B S pairs"]]:
    """The first and the second member of each pair. (..., D) -> two of (..., D / 2)."""
    if layout == "half":
        first, second = x.chunk(2, dim=-1)
        return first, second
    return x[..., 0::2], x[..., 1::2]


def join_pairs(
    first: Float[Tensor, "*B S pairs"], second: Float[Tensor, "*B S pairs"], *, layout: Layout
) -> Float[Tensor, "*B S D"]:
    """The inverse of `split_pairs`. Two of (..., P) -> (..., 2 P)."""
    if layout == "half":
        return torch.cat((first, second), dim=-1)
    return torch.stack((first, second), dim=-1).flatten(-2)
