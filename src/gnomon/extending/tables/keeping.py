"""The first positions kept and the others stretched: Long-CLIP, Zhang et al. 2024, arXiv:2403.15378, section 3.1."""

from collections.abc import Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.extending.tables.interpolating import Kind, reading
from gnomon.extending.tables.interpolating import reference as interpolation
from gnomon.extending.tables.stencil import Stencil, require_longer


def keep_first(table: Float[Tensor, "old W"], to: int, *, keep: int, kind: Kind = "linear") -> Float[Tensor, "new W"]:
    """The first `keep` positions as they are; the others are stretched over the rest, with both ends in place.

    (old, W) -> (to, W). Old position `keep` comes right after the kept ones, and the last one stays the last. (The
    code of Long-CLIP steps by exactly 1/4 and continues the line beyond the last row, 77 to 248; the paper's rule has
    no such end.) Inputs up to `keep` positions change nothing. Raises GnomonError for lengths that leave no tail.

    >>> keep_first(torch.tensor([[0.0], [1.0], [2.0], [4.0]]), 6, keep=2).T
    tensor([[0.0000, 1.0000, 2.0000, 2.6667, 3.3333, 4.0000]])
    """
    return keeping(require_longer(table, to), to, keep, kind).rows(table)


def keeping(old: int, new: int, keep: int, kind: str) -> Stencil:
    """The stencil of `keep_first`."""
    if type(keep) is not int or not 0 <= keep <= old - 2:
        raise GnomonError(
            f"Of {old} positions 0 to {max(old - 2, 0)} can be kept, since two at least are stretched over the rest, "
            f"got keep={keep}."
        )
    tail = torch.arange(new - keep, dtype=torch.float64) * (old - keep - 1) / (new - keep - 1)
    return reading(tail, old - keep, kind).after(keep)


def reference(position: int, column: int, table: Sequence[Sequence[float]], to: int, keep: int) -> float:
    """Section 3.1: PE*(pos) = PE(pos) up to the kept length, then the interpolation of the others."""
    if position < keep:
        return table[position][column]
    return interpolation(position - keep, column, table[keep:], to - keep)
