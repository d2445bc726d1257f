"""A table of learned position vectors: Gehring et al. 2017, arXiv:1705.03122; Devlin et al. 2019, arXiv:1810.04805."""

from typing import Any, final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.places import require_below


@registry.register("learned")
@final
class Learned(PositionEncoding):
    """Row p + padding_offset of a table is added to the embedding at position p.

    `weight` is (max_length + padding_offset, dim), drawn from a normal distribution with standard deviation `init_std`
    (BERT's 0.02). `padding_offset` is the number of reserved first rows: 2 in RoBERTa (its padding index + 1) and OPT.
    A position outside 0 .. max_length - 1 raises PositionError before any kernel runs. Under torch.compile and on the
    meta device the values cannot be read, so there the lookup itself has to fail.

    >>> Learned(max_length=512, dim=8, padding_offset=2).weight.shape
    torch.Size([514, 8])
    """

    learned: bool = True

    def __init__(self, max_length: int, dim: int, *, init_std: float = 0.02, padding_offset: int = 0) -> None:
        super().__init__()
        if max_length < 1 or dim < 1 or padding_offset < 0:
            raise GnomonError(
                f"A learned table needs max_length and dim of at least 1 and padding_offset of at least 0, got "
                f"{max_length}, {dim} and {padding_offset}."
            )
        if not init_std >= 0:
            raise GnomonError(f"The standard deviation init_std cannot be negative, got {init_std}.")
        self.max_length: int = max_length
        self.dim = dim
        self.init_std = float(init_std)
        self.padding_offset = padding_offset
        self.weight = nn.Parameter(torch.empty(max_length + padding_offset, dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew from torch's default generator."""
        nn.init.normal_(self.weight, std=self.init_std)

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        require_positions(positions)
        if x.shape[-1] != self.dim:
            raise ShapeError(f"The embeddings are {x.shape[-1]} wide but the position table is {self.dim} wide.")
        advice = "shorten the input or enlarge the table"
        require_below(positions, self.max_length, owner="this learned table", advice=advice)
        rows = nn.functional.embedding(positions + self.padding_offset, self.weight)
        return (x + rows).to(x.dtype)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "max_length": self.max_length,
            "dim": self.dim,
            "init_std": self.init_std,
            "padding_offset": self.padding_offset,
        }


def reference(vector: list[float], position: int, table: list[list[float]], padding_offset: int) -> list[float]:
    """Gehring et al. 2017, section 3.1, e = w + p: one word vector plus one row, component by component."""
    row = table[padding_offset:][position]
    return [word + place for word, place in zip(vector, row, strict=True)]
