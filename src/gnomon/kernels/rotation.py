"""Rotation of pairs, the hot operation of rotary encodings, and the angles that it needs.

The eager form, in plain torch: out of place, differentiable, and without a branch on data.
"""

import math
from typing import Literal

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from gnomon.errors import ShapeError

Layout = Literal["half", "interleaved"]
LAYOUTS: tuple[Layout, ...] = ("half", "interleaved")


def angles(
    positions: Int[Tensor, "*B S"], inverse: Float64[Tensor, " pairs"], *, dtype: torch.dtype = torch.float32
) -> Float[Tensor, "*B S pairs"]:
    """position x inverse frequency in radians, reduced to [0, 2 pi). (..., S), (P,) -> (..., S, P).

    The product and the reduction are in float64, so that the result is good to the last bit of float32 at any integer
    position: in float32 alone, the angle of position 10 000 000 is wrong by up to 0.5.

    >>> angles(torch.tensor([[1, 10_000_000]]), torch.ones(1, dtype=torch.float64))
    tensor([[[1.0000],
             [2.7075]]])
    """
    turned = positions.unsqueeze(-1).to(torch.float64) * inverse
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
    a, b = split_pairs(x[..., :width], layout=layout)
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
