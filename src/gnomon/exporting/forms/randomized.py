"""Random positions in a graph: the ids that were drawn last, before the form of the inner encoding."""

from dataclasses import replace
from typing import final

from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.randomized import RandomizedPositions
from gnomon.exporting.forms.base import Form, form_of, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions


@final
class DrawnIds(Form):
    """Positions become their ids by a table of integers; all hooks are those of the inner form."""

    def __init__(self, encoding: RandomizedPositions, inner: Form) -> None:
        super().__init__(encoding)
        self.inner = inner
        self.description = f"the ids drawn last, then {inner.description}"
        self.ids = nn.Buffer(encoding.ids[:, None], persistent=False)

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        return self.inner.embed(x, self._mapped(positions))

    def rotate_query(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self.inner.rotate_query(q, self._mapped(positions))

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self.inner.rotate_key(k, self._mapped(positions))

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float[Tensor, "#B H Q K"] | None:
        return self.inner.bias(self._mapped(query_positions), self._mapped(key_positions))

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
        *visible: Tensor | None,
    ) -> Float[Tensor, "#B H Q K"] | None:
        return self.inner.content_bias(q, k, self._mapped(query_positions), self._mapped(key_positions), *visible)

    def _mapped(self, positions: Int[Tensor, "#B S"]) -> Int64[Tensor, "#B S"]:
        return rows(self.ids, positions).squeeze(-1)


@forms.register("randomized")
def randomized_form(encoding: RandomizedPositions, options: ExportOptions) -> Form:
    """The inner form has tables for all ids of the span."""
    return DrawnIds(encoding, form_of(encoding.inner, replace(options, max_length=encoding.span)))
