"""Biases that depend on the distance, in a graph: a number for each head and each distance of a table."""

from typing import Final, Literal, final

import torch
from jaxtyping import Float32, Int
from torch import Tensor, nn

from gnomon.encodings.sandwich import Sandwich
from gnomon.encodings.score_bias import DistanceBias
from gnomon.encodings.t5 import T5Bias
from gnomon.exporting.forms.base import Form, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions

Beyond = Literal["clamped", "refused"]
TOLD: Final = {"clamped": "clamped, as its buckets are", "refused": "an error beyond"}


@final
class DistanceTable(Form):
    """numbers[r + reach] for r = key position - query position, -reach .. reach; what is beyond is as told."""

    def __init__(self, encoding: DistanceBias, reach: int, *, beyond: Beyond) -> None:
        super().__init__(encoding)
        self.reach = reach
        self.beyond: Beyond = beyond
        self.description = f"a table of distances up to {reach}, {TOLD[beyond]}"
        with torch.no_grad():
            numbers = encoding.by_distance(torch.arange(-reach, reach + 1)).T.contiguous()
        self.numbers = nn.Buffer(numbers, persistent=False)

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        relative = key_positions[:, None, :] - query_positions[:, :, None]
        if self.beyond == "clamped":
            relative = relative.clamp(-self.reach, self.reach)
        return rows(self.numbers, relative, first=-self.reach).permute(0, 3, 1, 2)


@forms.register("t5")
def t5_form(encoding: T5Bias, options: ExportOptions) -> Form:
    """All distances from the start of the last bucket on share a row, so the table ends there."""
    return DistanceTable(encoding, encoding.bucket_starts[-1], beyond="clamped")


@forms.register("sandwich")
def sandwich_form(encoding: Sandwich, options: ExportOptions) -> Form:
    """Distances up to max_length - 1: its sums of cosines are in float64, which no graph should do."""
    return DistanceTable(encoding, options.max_length - 1, beyond="refused")
