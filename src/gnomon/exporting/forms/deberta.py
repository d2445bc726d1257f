"""Disentangled attention in a graph: projected tables, and the row of each distance in a table of its own."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import linear

from gnomon.encodings.deberta import DeBERTa
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.relative import differences, picked


@final
class DisentangledTables(Form):
    """The vectors of all rows are finished; distances are clamped, as the buckets are."""

    description = "tables of projected distances, clamped as its rows are"

    def __init__(self, encoding: DeBERTa) -> None:
        super().__init__(encoding)
        self.scale = encoding.scale
        self.reach = max(encoding.max_distance, encoding.span)
        zero = torch.zeros(1, 1, dtype=torch.int64)
        row_of = encoding.rows(torch.arange(-self.reach, self.reach + 1)[None], zero)[0]
        self.row_of: Tensor
        self.c2p: Tensor | None
        self.p2c: Tensor | None
        self.register_buffer("row_of", row_of, persistent=False)
        with torch.no_grad():
            table = encoding.table()
            for name, projection in (("c2p", encoding.position_key), ("p2c", encoding.position_query)):
                self.register_buffer(name, None, persistent=False)
                if projection is not None:
                    bias = None if projection.bias is None else projection.bias.float()
                    heads = linear(table, projection.weight.float(), bias).unflatten(-1, (encoding.num_heads, -1))
                    setattr(self, name, heads.permute(1, 2, 0).contiguous())

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        distance = differences(query_positions, key_positions).clamp(-self.reach, self.reach)
        row = rows(self.row_of, distance, first=-self.reach).squeeze(-1)
        parts = []
        if self.c2p is not None:
            parts.append(picked(q.float() @ self.c2p, row))
        if self.p2c is not None:
            parts.append(picked(k.float() @ self.p2c, row.mT).mT)
        return self.scale * torch.stack(parts).sum(0)


@forms.register("deberta")
def deberta_form(encoding: DeBERTa, options: ExportOptions) -> Form:
    """The learned table as far as it goes."""
    return DisentangledTables(encoding)
