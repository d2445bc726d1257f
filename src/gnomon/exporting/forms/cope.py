"""Contextual position encoding in a graph: counts as one product, without sorting."""

from typing import final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from gnomon.encodings.cope import CoPE
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.options import ExportOptions
from gnomon.kernels.relative import differences


@final
class CountedKeys(Form):
    """The gates of a query times a matrix of ones where a key stands no earlier than another: memory for B x K x K."""

    description = "counts as a product of matrices"

    def __init__(self, encoding: CoPE) -> None:
        super().__init__(encoding)
        self.scale, self.gate_scale = encoding.scale, encoding.gate_scale
        self.weight = nn.Buffer(encoding.weight.detach().float(), persistent=False)

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
        visible: Bool[Tensor, "#B 1 Q K"] | None = None,
    ) -> Float[Tensor, "B H Q K"]:
        counted = (differences(query_positions, key_positions) >= 0)[:, None]
        if visible is not None:
            counted = counted & visible
        gates = torch.sigmoid(self.gate_scale * (q.float() @ k.float().mT)) * counted
        not_earlier = (key_positions[:, :, None] >= key_positions[:, None, :]).float()
        count = (gates @ not_earlier[:, None]).clamp(max=self.weight.shape[0] - 1.0)
        by_row = q.float() @ self.weight.T
        below, above = count.floor().long(), count.ceil().long()
        share = count - below
        return self.scale * (by_row.gather(-1, above) * share + by_row.gather(-1, below) * (1 - share))


@forms.register("cope")
def cope_form(encoding: CoPE, options: ExportOptions) -> Form:
    """The learned table as it is."""
    return CountedKeys(encoding)
