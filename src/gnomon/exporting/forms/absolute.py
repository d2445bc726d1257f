"""Vectors added to the embeddings, sinusoidal or learned, in a graph: rows of a table."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.learned import Learned
from gnomon.encodings.sinusoidal import Sinusoidal
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions


@final
class AddedRows(Form):
    """Row p of a table is added at position p, in the wider dtype of both, and the sum is cast once."""

    description = "a table of vectors"

    def __init__(self, encoding: PositionEncoding, table: Float[Tensor, "N W"]) -> None:
        super().__init__(encoding)
        self.max_length = len(table)
        self.table = nn.Buffer(table, persistent=False)

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        return (x + rows(self.table, positions)).to(x.dtype)


@forms.register("sinusoidal")
def sinusoidal_form(encoding: Sinusoidal, options: ExportOptions) -> Form:
    """The vectors of the positions 0 .. max_length - 1."""
    return AddedRows(encoding, encoding.table(torch.arange(options.max_length)))


@forms.register("learned")
def learned_form(encoding: Learned, options: ExportOptions) -> Form:
    """The learned table, without its reserved first rows."""
    return AddedRows(encoding, encoding.weight.detach()[encoding.padding_offset :])
