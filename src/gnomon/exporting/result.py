"""What an export was: the graph that was written, and how far it is from the model, as plain data."""

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from gnomon.errors import GnomonError


@final
@dataclass(frozen=True)
class Case:
    """One call of a model: `batch` rows of `length` tokens, from position `first` on, after `past` cached tokens.

    `padding`: so many slots of the first row are padding on the left, one fewer of each row after it.

    >>> str(Case(3, 19, first=5, padding=4))
    '3 x 19, from position 5, 4 padded on the left'
    """

    batch: int
    length: int
    first: int = 0
    padding: int = 0
    past: int = 0

    def __str__(self) -> str:
        words = [f"{self.batch} x {self.length}"]
        words += [f"after {self.past} cached"] * (self.past > 0)
        words += [f"from position {self.first}"] * (self.first > 0)
        words += [f"{self.padding} padded on the left"] * (self.padding > 0)
        return ", ".join(words)


@final
@dataclass(frozen=True)
class Check:
    """The largest difference between graph and model in one call, as a share of the largest output (at least 1).

    `failure` says what onnxruntime raised, if it did not run; the difference is then infinite.
    """

    case: Case
    difference: float
    tolerance: float
    failure: str = ""

    @property
    def ok(self) -> bool:
        return self.difference <= self.tolerance


@final
@dataclass(frozen=True)
class Port:
    """An input or output of the graph; a size is a name where it is open."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]


@final
@dataclass(frozen=True)
class Exported:
    """A written graph. `encodings`: each of gnomon's encodings in the model, and what stands for it in the graph.

    `checks` are empty when none were asked for.
    """

    target: str
    path: Path
    opset: int
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    encodings: tuple[tuple[str, str], ...]
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether every check found the graph equal to the model."""
        return all(check.ok for check in self.checks)

    @property
    def largest_difference(self) -> float:
        """The largest of all checks; 0 without any."""
        return max((check.difference for check in self.checks), default=0.0)

    def to_json(self) -> str:
        """One object with everything in it; a call that failed has the difference null."""
        checks = [
            {**asdict(c.case), "difference": c.difference if math.isfinite(c.difference) else None}
            | {"tolerance": c.tolerance, "failure": c.failure, "ok": c.ok}
            for c in self.checks
        ]
        fields = {
            "schema_version": 1,
            "target": self.target,
            "path": str(self.path),
            "opset": self.opset,
            "inputs": [asdict(port) for port in self.inputs],
            "outputs": [asdict(port) for port in self.outputs],
            "encodings": [{"encoding": kind, "form": form} for kind, form in self.encodings],
            "checks": checks,
            "ok": self.ok,
        }
        return json.dumps(fields, indent=2)


@final
class WrongExportError(GnomonError):
    """The graph is not the model; `exported` has what was measured. Nothing is written."""

    def __init__(self, exported: Exported) -> None:
        worst = next(check for check in exported.checks if not check.ok)
        what = (
            f"does not run ({worst.failure})" if worst.failure else f"differs from the model by {worst.difference:.2g}"
        )
        super().__init__(f"The graph {what} at {worst.case}; it is not kept.")
        self.exported = exported
