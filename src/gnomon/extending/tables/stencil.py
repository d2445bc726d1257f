"""New rows as weighted sums of a few old rows: every way of making a table longer is one, and is applied the same."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from gnomon.errors import GnomonError, ShapeError

BLOCK = 2**20  #: numbers made at a time, in float64


@final
@dataclass(frozen=True)
class Stencil:
    """New row m is the sum over k of `weights[m, k]` times old row `sources[m, k]`.

    The sums are taken in float64, a block of rows at a time, and cast once to the dtype of the table.

    >>> halfway = Stencil(torch.tensor([[0, 1]]), torch.tensor([[0.5, 0.5]], dtype=torch.float64))
    >>> halfway.rows(torch.tensor([[0.0, 8.0], [2.0, 4.0]]))
    tensor([[1., 6.]])
    """

    sources: Int64[Tensor, "new taps"]
    weights: Float64[Tensor, "new taps"]

    def rows(self, table: Float[Tensor, "old W"]) -> Float[Tensor, "new W"]:
        """(old, W) -> (new, W), in the dtype and on the device of the table."""
        sources, weights = self.sources.to(table.device), self.weights.to(table.device)
        made = table.new_empty(len(sources), table.shape[1])
        step = max(BLOCK // max(table.shape[1], 1), 1)
        for start in range(0, len(sources), step):
            block = slice(start, start + step)
            sums = torch.zeros(made[block].shape, dtype=torch.float64, device=table.device)
            for source, weight in zip(sources[block].T, weights[block].T, strict=True):
                sums += weight[:, None] * table[source].to(torch.float64)
            made[block] = sums.to(table.dtype)
        return made

    def averages(self) -> "Stencil":
        """The same rows, each with the sizes of its weights as shares of 1: for what must stay above zero.

        >>> Stencil(torch.tensor([[0, 1]]), torch.tensor([[-0.25, 1.25]], dtype=torch.float64)).averages().weights
        tensor([[0.1667, 0.8333]], dtype=torch.float64)
        """
        sizes = self.weights.abs()
        return Stencil(self.sources, sizes / sizes.sum(dim=1, keepdim=True))

    def after(self, kept: int) -> "Stencil":
        """The same on a table with `kept` rows before these, which stay as they are."""
        own = torch.zeros(kept, self.sources.shape[1], dtype=torch.int64)
        own[:, 0] = torch.arange(kept)
        ones = torch.zeros(kept, self.sources.shape[1], dtype=torch.float64)
        ones[:, 0] = 1.0
        return Stencil(torch.cat((own, self.sources + kept)), torch.cat((ones, self.weights)))


def require_longer(table: Tensor, to: int, *, rows: int = 2) -> int:
    """The rows of a table (old, W) that `to` is more than; raises ShapeError or GnomonError with one sentence."""
    if table.ndim != 2 or not table.is_floating_point():
        raise ShapeError(
            f"A table of positions is (positions, width) of floats, got {tuple(table.shape)} of {table.dtype}."
        )
    old = len(table)
    if old < rows:
        raise GnomonError(f"A table is made longer from {rows} positions at least, and this one has {old}.")
    if type(to) is not int or to <= old:
        raise GnomonError(f"The table has {old} positions and can only become longer, got to={to}.")
    return old
