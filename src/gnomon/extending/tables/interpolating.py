"""A table of positions stretched over more positions, with both ends in place: straight lines, or cubics.

Position interpolation: Chen et al. 2023, arXiv:2306.15595, section 2, for tables. Cubic convolution: Keys 1981,
"Cubic convolution interpolation for digital image processing", IEEE Transactions on Acoustics 29(6).
"""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import torch
from jaxtyping import Float, Float64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.extending.tables.stencil import Stencil, require_longer

Kind = Literal["linear", "cubic"]


def interpolated(table: Float[Tensor, "old W"], to: int, *, kind: Kind = "linear") -> Float[Tensor, "new W"]:
    """New position m is read at m (old - 1) / (new - 1): the first and the last vector stay, all others lie between.

    (old, W) -> (to, W). Lines or cubics between neighbours; a cubic takes four rows and reproduces any quadratic, also
    at the ends, where the missing row follows from the three nearest. Raises GnomonError when `to` is not longer.

    >>> interpolated(torch.tensor([[0.0], [1.0], [4.0]]), 5).T
    tensor([[0.0000, 0.5000, 1.0000, 2.5000, 4.0000]])
    >>> interpolated(torch.tensor([[0.0], [1.0], [4.0]]), 5, kind="cubic").T
    tensor([[0.0000, 0.2500, 1.0000, 2.2500, 4.0000]])
    """
    return stretching(require_longer(table, to), to, kind).rows(table)


def stretching(old: int, new: int, kind: str) -> Stencil:
    """The stencil of `interpolated`."""
    places = torch.arange(new, dtype=torch.float64) * (old - 1) / max(new - 1, 1)
    return reading(places, old, kind)


def reading(places: Float64[Tensor, " new"], old: int, kind: str) -> Stencil:
    """Rows read at places between 0 and old - 1, which need not be whole."""
    if kind not in get_args(Kind):
        raise GnomonError(f"A line of positions is interpolated {' or '.join(get_args(Kind))}, got kind={kind!r}.")
    below = places.floor().clamp(max=max(old - 2, 0)).to(torch.int64)
    share = places - below
    if kind == "linear" or old < 3:
        both = torch.stack((below, (below + 1).clamp(max=old - 1)), dim=1)
        return Stencil(both, torch.stack((1 - share, share), dim=1))
    return _inside(below, torch.stack(_keys(share), dim=1), old)


def _keys(share: Float64[Tensor, " new"]) -> tuple[Tensor, ...]:
    """Weights of the rows before, below, above and after: Keys' kernel with a = -1/2."""
    square, cube = share**2, share**3
    return (
        (-cube + 2 * square - share) / 2,
        (3 * cube - 5 * square + 2) / 2,
        (-3 * cube + 4 * square + share) / 2,
        (cube - square) / 2,
    )


def _inside(below: Tensor, weights: Float64[Tensor, "new 4"], old: int) -> Stencil:
    """Rows beyond the ends replaced by their continuation, c(-1) = 3 c(0) - 3 c(1) + c(2), as Keys has it."""
    sources = below[:, None] + torch.arange(-1, 3)
    weights = weights.clone()
    for outside, order in ((sources[:, 0] < 0, (0, 1, 2, 3)), (sources[:, 3] >= old, (3, 2, 1, 0))):
        lost, one, two, three = order
        gone = weights[outside, lost][:, None] * torch.tensor([3.0, -3.0, 1.0], dtype=torch.float64)
        for place, part in zip((one, two, three), gone.T, strict=True):
            weights[outside, place] += part
        weights[outside, lost] = 0.0
    return Stencil(sources.clamp(0, old - 1), weights)


def reference(position: int, column: int, table: Sequence[Sequence[float]], to: int) -> float:
    """Position interpolation, section 2: place m of the longer line is place m (old - 1) / (new - 1) of the old one."""
    place = position * (len(table) - 1) / (to - 1)
    below = min(math.floor(place), len(table) - 2)
    return table[below][column] + (place - below) * (table[below + 1][column] - table[below][column])


def reference_cubic(position: int, column: int, table: Sequence[Sequence[float]], to: int) -> float:
    """Keys 1981, equations 4 and 15 (the kernel u(s) on |s| < 2), and 19 and 25 (the rows beyond the ends)."""
    values = [row[column] for row in table]
    first = 3 * values[0] - 3 * values[1] + values[2]
    last = 3 * values[-1] - 3 * values[-2] + values[-3]
    place = position * (len(table) - 1) / (to - 1)
    return sum(value * _kernel(place - row) for row, value in enumerate([first, *values, last], start=-1))


def _kernel(distance: float) -> float:
    s = abs(distance)
    if s < 1:
        return 1.5 * s**3 - 2.5 * s**2 + 1
    return -0.5 * s**3 + 2.5 * s**2 - 4 * s + 2 if s < 2 else 0.0
