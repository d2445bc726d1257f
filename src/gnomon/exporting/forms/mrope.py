"""M-RoPE in a graph: one table, of which each pair reads the row of its own coordinate."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.encodings.mrope import MRoPE
from gnomon.encodings.rotary import Rotary
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.places import absent
from gnomon.kernels.rotation import rotate


@final
class RotationByAxes(Form):
    """Cosines and sines looked up for each axis; a pair takes those of its own. Tokens without a place are at 0."""

    description = "a table of cosines and sines for all axes, plain arithmetic"

    def __init__(self, encoding: MRoPE, max_length: int) -> None:
        super().__init__(encoding)
        self.layout = encoding.layout
        self.max_length = max_length
        same = Rotary(encoding.head_dim, rotary_dim=encoding.rotary_dim, frequencies=encoding.frequencies)
        cos, sin = same.cos_sin(torch.arange(max_length))
        self.cos = nn.Buffer(cos, persistent=False)
        self.sin = nn.Buffer(sin, persistent=False)
        axis_of_pair = torch.tensor(encoding.axis_of_pair)
        #: (axes, pairs), 1 where a pair turns by an axis
        self.turns_by = nn.Buffer(nn.functional.one_hot(axis_of_pair, 3).T.float(), persistent=False)

    def rotate_query(
        self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S axes"]
    ) -> Float[Tensor, "B H S D"]:
        placed = torch.where(absent(positions), 0, positions)
        found = ((rows(table, placed) * self.turns_by).sum(-2).unsqueeze(-3) for table in (self.cos, self.sin))
        return rotate(q, *found, layout=self.layout)

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S axes"]) -> Float[Tensor, "B H S D"]:
        return self.rotate_query(k, positions)


@forms.register("mrope")
def mrope_form(encoding: MRoPE, options: ExportOptions) -> Form:
    """Tables for the coordinates 0 .. max_length - 1."""
    return RotationByAxes(encoding, options.max_length)
