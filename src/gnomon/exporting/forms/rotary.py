"""Rotary encoding in a graph: finished tables, and the rotation as arithmetic or as the operator RotaryEmbedding."""

from typing import final

import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding
from gnomon.encodings.rotary import Rotary
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.rotation import Layout, rotate

#: cosines and sines of positions 0, 1, ...: two of (N, pairs)
Tables = tuple[Float32[Tensor, "N pairs"], Float32[Tensor, "N pairs"]]


@final
class Arithmetic(nn.Module):
    """Pairs are turned by multiplication and addition in float32."""

    words = "plain arithmetic"

    def __init__(self, layout: Layout) -> None:
        super().__init__()
        self.layout: Layout = layout

    def forward(
        self, x: Float[Tensor, "B H S D"], cos: Tensor, sin: Tensor, positions: Int[Tensor, "#B S"]
    ) -> Float[Tensor, "B H S D"]:
        found = (rows(table, positions).unsqueeze(-3) for table in (cos, sin))
        return rotate(x, *found, layout=self.layout)


@final
class Operator(nn.Module):
    """RotaryEmbedding of opset 23, with the tables as its caches. Vectors of half precision are turned in float32.

    The standard does not say what happens at a position outside the caches (onnxruntime refuses it, other runtimes need
    not), so a Gather that fails stands before it.
    """

    words = "the operator RotaryEmbedding"

    def __init__(self, layout: Layout, length: int) -> None:
        super().__init__()
        self.layout: Layout = layout
        self.places = nn.Buffer(torch.arange(length)[:, None], persistent=False)

    def forward(
        self, x: Float[Tensor, "B H S D"], cos: Tensor, sin: Tensor, positions: Int[Tensor, "#B S"]
    ) -> Float[Tensor, "B H S D"]:
        turned: Tensor = torch.onnx.ops.rotary_embedding(
            x.float(),
            cos,
            sin,
            rows(self.places, positions).squeeze(-1).expand(x.shape[0], -1),
            interleaved=self.layout == "interleaved",
            rotary_embedding_dim=2 * cos.shape[1],
        )
        return turned.to(x.dtype)


@final
class RotationTables(Form):
    """Cosines and sines by position, for queries and for keys, and what turns pairs by them."""

    def __init__(self, encoding: PositionEncoding, turn: Arithmetic | Operator, query: Tables, key: Tables) -> None:
        super().__init__(encoding)
        self.turn = turn
        self.max_length = len(query[0])
        self.description = f"tables of cosines and sines of {len(query[0])} positions, {turn.words}"
        self.query_cos, self.query_sin, self.key_cos, self.key_sin = (
            nn.Buffer(t, persistent=False) for t in query + key
        )

    def rotate_query(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        turned: Tensor = self.turn(q, self.query_cos, self.query_sin, positions)
        return turned

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        turned: Tensor = self.turn(k, self.key_cos, self.key_sin, positions)
        return turned


@forms.register("rotary")
def rotary_form(encoding: Rotary, options: ExportOptions) -> Form:
    """Tables for the positions 0 .. max_length - 1."""
    tables = encoding.cos_sin(torch.arange(options.max_length))
    return RotationTables(encoding, turn_of(encoding.layout, options.max_length, options), tables, tables)


def turn_of(layout: Layout, length: int, options: ExportOptions) -> Arithmetic | Operator:
    """What turns pairs, as the options ask, for tables of `length` positions."""
    return Operator(layout, length) if options.rotary == "operator" else Arithmetic(layout)
