"""A table of n positions decomposed into two digits, which name n * n: Su 2020, https://kexue.fm/archives/7947."""

from collections.abc import Sequence
from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.extending.tables.stencil import Stencil, require_longer

ALPHA: Final = 0.4  #: the author's


def hierarchical(table: Float[Tensor, "old W"], to: int, *, alpha: float = ALPHA) -> Float[Tensor, "new W"]:
    """Position i n + j, counted from 0, has alpha u_i + (1 - alpha) u_j with u_i = (p_i - alpha p_0) / (1 - alpha).

    (old, W) -> (to, W), for n old vectors p. The first n stay as they are, because i is 0 there; up to n * n positions
    have different vectors. Raises GnomonError beyond, for an `alpha` outside 0 .. 1, and for 1/2, at which the digits
    could be exchanged.

    >>> hierarchical(torch.tensor([[0.0], [3.0], [6.0]]), 9).T
    tensor([[ 0.,  3.,  6.,  2.,  5.,  8.,  4.,  7., 10.]])
    """
    return decomposing(require_longer(table, to), to, alpha).rows(table)


def decomposing(old: int, new: int, alpha: float) -> Stencil:
    """The stencil of `hierarchical`: p_j + r (p_i - p_0) with r = alpha / (1 - alpha)."""
    if not 0 < alpha < 1 or alpha == 0.5:
        raise GnomonError(f"The share alpha of the first digit lies between 0 and 1 and is not 1/2, got {alpha}.")
    if new > old * old:
        raise GnomonError(
            f"Two digits of {old} positions name {old * old} positions, and {new} are asked for; "
            "use keep-first or tile, or a smaller length."
        )
    places = torch.arange(new)
    first, second = places // old, places % old
    ratio = (first > 0).to(torch.float64) * (alpha / (1 - alpha))
    weights = torch.stack((torch.ones_like(ratio), ratio, -ratio), dim=1)
    return Stencil(torch.stack((second, first, torch.zeros_like(first)), dim=1), weights)


def reference(position: int, column: int, table: Sequence[Sequence[float]], alpha: float = ALPHA) -> float:
    """The author's formulas, with rows counted from 1: p((i - 1) n + j) = alpha u(i) + (1 - alpha) u(j)."""
    n = len(table)
    i, j = position // n + 1, position % n + 1

    def u(k: int) -> float:
        return (table[k - 1][column] - alpha * table[0][column]) / (1 - alpha)

    return alpha * u(i) + (1 - alpha) * u(j)
