"""What an export is asked for, as plain data."""

from dataclasses import dataclass
from typing import Any, Literal, final, get_args

from gnomon.errors import GnomonError

Rotary = Literal["arithmetic", "operator"]
FIRST_OPSET, LAST_OPSET = 18, 23  #: what the exporter of torch writes
USUAL_OPSET = 20
USUAL_LENGTH = 4096  #: rows of tables
USUAL_LENGTHS = (7, 19)  #: where the graph is compared
OPERATOR_OPSET = 23  #: the first with RotaryEmbedding
LONGEST = 2**31 - 1  #: no table and no comparison has more positions


@final
@dataclass(frozen=True)
class ExportOptions:
    """How a model is exported; checked when it is made.

    `opset`: the ONNX operator set, 18 to 23; by default 20, or 23 where it is needed. `rotary`: rotations as plain
    "arithmetic", or as the standard "operator" RotaryEmbedding of opset 23. `max_length`: tables that are computed from
    a formula have rows for the positions 0 .. max_length - 1. `lengths`: the graph is compared with the model at these
    two. `cache`: the graph takes and gives keys and values.

    >>> ExportOptions(rotary="operator").opset_version
    23
    """

    opset: int | None = None
    rotary: Rotary = "arithmetic"
    max_length: int = USUAL_LENGTH
    lengths: tuple[int, int] = USUAL_LENGTHS
    cache: bool = False

    def __post_init__(self) -> None:
        for name, value in (("opset", self.opset), ("max_length", self.max_length)):
            if not (_whole(value) or (name == "opset" and value is None)):
                raise GnomonError(f"An export takes a whole number, got {name}={value!r}.")
        if self.rotary not in get_args(Rotary):
            raise GnomonError(f"Rotations are exported as {' or '.join(get_args(Rotary))}, got {self.rotary!r}.")
        if not FIRST_OPSET <= self.opset_version <= LAST_OPSET:
            raise GnomonError(f"The exporter writes opset {FIRST_OPSET} to {LAST_OPSET}, got {self.opset}.")
        if self.rotary == "operator" and self.opset_version < OPERATOR_OPSET:
            raise GnomonError(
                f"RotaryEmbedding is an operator from opset {OPERATOR_OPSET} on, got opset {self.opset}; choose "
                f"{OPERATOR_OPSET}, or rotary='arithmetic'."
            )
        if not 1 <= self.max_length <= LONGEST:
            raise GnomonError(f"Tables have 1 to {LONGEST} positions, got max_length={self.max_length}.")
        if not _two_lengths(self.lengths):
            raise GnomonError(
                f"The graph is compared at two different lengths from 1 to {LONGEST}, got {self.lengths!r}."
            )

    @property
    def opset_version(self) -> int:
        """The operator set that is written."""
        if self.opset is not None:
            return self.opset
        return OPERATOR_OPSET if self.rotary == "operator" else USUAL_OPSET

    @property
    def traced_length(self) -> int:
        """The length that the exporter sees: none of those that the graph is compared at."""
        return next(n for n in (11, 12, 13) if n not in self.lengths)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _two_lengths(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(_whole(n) and 1 <= n <= LONGEST for n in value)
        and value[0] != value[1]
    )
