"""What all export forms are, and how one is found."""

from collections.abc import Callable
from typing import Any, Final

from jaxtyping import Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, name_of
from gnomon.encodings.inner import AroundInner
from gnomon.errors import GnomonError
from gnomon.exporting.options import ExportOptions
from gnomon.registry import Registry

Maker = Callable[[Any, ExportOptions], "Form"]
#: encoding name -> what makes its form
forms: Registry[Maker] = Registry("export form", package="gnomon.exporting.forms")

PROMISES: Final = (
    "relative", "learned", "norm_preserving", "causal_only", "max_length", "axes", "grid", "needs_visible",
    "uses_position",
)  # fmt: skip


class Form(PositionEncoding):
    """An encoding of finished tables and plain arithmetic, which an exporter can write down.

    It gives what the hooks of the encoding give, without reading values, without float64, and with positions outside
    its tables failing in the graph. Its tables are buffers outside the state dict, in float32.
    """

    #: what it is, in the words of the report
    description: str = ""

    def __init__(self, encoding: PositionEncoding) -> None:
        super().__init__()
        self.kind = type(encoding).__name__
        self._options = encoding.options
        for name in PROMISES:
            setattr(self, name, getattr(encoding, name))

    @property
    def options(self) -> dict[str, Any]:
        return self._options


class AsItIs(AroundInner, Form):
    """The encoding itself, in dense form: its own arithmetic is what an exporter takes."""

    description = "its own arithmetic"

    def __init__(self, encoding: PositionEncoding) -> None:
        super().__init__(encoding)
        self.inner = encoding

    def mapped(self, positions: Int[Tensor, "*B S"]) -> Int[Tensor, "*B S"]:
        return positions


def form_of(encoding: PositionEncoding, options: ExportOptions) -> Form:
    """The form of an encoding; raises GnomonError with one sentence for one that has none."""
    if encoding.length_dependent:
        raise GnomonError(
            f"{type(encoding).__name__} here turns by the length of the sequence, which a graph cannot choose; fix one "
            f"with encoding.at_length(n) before the export."
        )
    name = _registered_name(encoding)
    if name in forms:
        return forms.get(name)(encoding, options)
    if encoding.axes > 1:
        raise GnomonError(
            f"{type(encoding).__name__} has positions of {encoding.axes} coordinates and no export form: a graph would "
            f"not notice coordinates outside its grid; export the model without it."
        )
    return AsItIs(encoding)


def _registered_name(encoding: PositionEncoding) -> str:
    try:
        return name_of(type(encoding))
    except GnomonError:
        return ""  # the user's own
