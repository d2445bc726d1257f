"""The relative positions of Transformer-XL and XLNet in a graph: sinusoids of all distances in one table."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from gnomon.encodings.transformer_xl import TransformerXL
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.relative import differences, picked


@final
class ShiftedScores(Form):
    """Scores of all distances from the least to the largest of a call, and from these the one of each pair."""

    def __init__(self, encoding: TransformerXL, reach: int) -> None:
        super().__init__(encoding)
        self.heads = (encoding.num_heads, encoding.head_dim)
        self.scale = encoding.scale
        self.reach = reach
        self.clamped = encoding.clamp_length is not None
        self.description = f"a table of distances up to {reach}, " + ("clamped" if self.clamped else "an error beyond")
        self.projection = encoding.projection
        self.content_bias_vector = encoding.content_bias_vector
        self.position_bias_vector = encoding.position_bias_vector
        table = encoding.sinusoid.table(torch.arange(-reach, reach + 1))
        self.sinusoids = nn.Buffer(table, persistent=False)

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        u, v = self.content_bias_vector.float(), self.position_bias_vector.float()
        apart = differences(query_positions, key_positions)
        if self.clamped:
            apart = apart.clamp(-self.reach, self.reach)
        low = apart.amin((0, 1, 2))
        # More distances than the table has are an error of the lookups below, and must not be laid out first.
        count: int = (apart.amax((0, 1, 2)) - low + 1).clamp(max=2 * self.reach + 2).item()  # type: ignore[assignment]
        torch._check(count >= 1)
        distances = low + torch.arange(count, device=q.device)
        table = linear(rows(self.sinusoids, distances, first=-self.reach), self.projection.weight.float())
        vectors = table.view(-1, *self.heads).permute(1, 2, 0)
        by_key = (k.float() * u[:, None]).sum(-1)[:, :, None]
        return self.scale * (by_key + picked((q.float() + v[:, None]) @ vectors, apart - low))


@forms.register("transformer_xl")
def transformer_xl_form(encoding: TransformerXL, options: ExportOptions) -> Form:
    """Distances up to where they are clamped, else up to max_length - 1."""
    return ShiftedScores(encoding, encoding.clamp_length or options.max_length - 1)
