"""Random positions in a graph: the ids that were drawn last, before the form of the inner encoding."""

from dataclasses import replace
from typing import final

from jaxtyping import Int, Int64
from torch import Tensor, nn

from gnomon.encodings.inner import AroundInner
from gnomon.encodings.randomized import RandomizedPositions
from gnomon.exporting.forms.base import Form, form_of, forms
from gnomon.exporting.forms.rows import rows
from gnomon.exporting.options import ExportOptions


@final
class DrawnIds(AroundInner, Form):
    """Positions become their ids by a table of integers; all hooks are those of the inner form."""

    def __init__(self, encoding: RandomizedPositions, inner: Form) -> None:
        super().__init__(encoding)
        self.inner = inner
        self.description = f"the ids drawn last, then {inner.description}"
        self.ids = nn.Buffer(encoding.ids[:, None], persistent=False)

    def mapped(self, positions: Int[Tensor, "*B S"]) -> Int64[Tensor, "*B S"]:
        return rows(self.ids, positions).squeeze(-1)


@forms.register("randomized")
def randomized_form(encoding: RandomizedPositions, options: ExportOptions) -> Form:
    """The inner form has tables for all ids of the span."""
    return DrawnIds(encoding, form_of(encoding.inner, replace(options, max_length=encoding.span)))
