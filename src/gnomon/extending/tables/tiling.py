"""A table of positions repeated: Longformer, Beltagy et al. 2020, arXiv:2004.05150, section 5."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.extending.tables.stencil import Stencil, require_longer


def tiled(table: Float[Tensor, "old W"], to: int) -> Float[Tensor, "new W"]:
    """The table again and again: new position m has the vector of old position m modulo old.

    (old, W) -> (to, W). Inputs up to the old length change nothing, and neighbours keep their distance vectors but at
    the seams; positions that are `old` apart cannot be told apart. Raises GnomonError when `to` is not longer.

    >>> tiled(torch.tensor([[1.0], [2.0], [3.0]]), 7).T
    tensor([[1., 2., 3., 1., 2., 3., 1.]])
    """
    return repeating(require_longer(table, to, rows=1), to).rows(table)


def repeating(old: int, new: int) -> Stencil:
    """The stencil of `tiled`."""
    return Stencil((torch.arange(new) % old)[:, None], torch.ones(new, 1, dtype=torch.float64))


def reference(position: int, column: int, table: Sequence[Sequence[float]]) -> float:
    """Section 5: the 512 positions of RoBERTa copied several times, one copy after another."""
    while position >= len(table):
        position -= len(table)
    return table[position][column]
