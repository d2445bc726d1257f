"""What was found about the layout of a checkpoint, evidence by evidence, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

from gnomon.kernels.rotation import Layout
from gnomon.report.plain import fields

SCHEMA_VERSION = 1  #: of the form of `Detected.to_dict`

Kind = Literal["config", "loss", "reference"]


@final
@dataclass(frozen=True)
class Evidence:
    """One kind of evidence. `layout` is that of the rows as stored; None where it cannot tell, and `words` say why.

    `twice`: the rows fit neither layout, but one to which they were gathered twice.
    """

    kind: Kind
    layout: Layout | None
    words: str
    numbers: Mapping[str, float] = field(default_factory=dict)
    twice: bool = False

    @property
    def tells(self) -> bool:
        """Whether it says anything of the rows."""
        return self.layout is not None or self.twice


@final
@dataclass(frozen=True)
class Detected:
    """The evidence and the verdict: `layout` of the rows as stored, None where nothing tells.

    `disagreement` when the evidence contradicts itself, as where weights were converted for another rotation.
    """

    target: str
    layout: Layout | None
    verdict: str
    disagreement: bool
    evidence: tuple[Evidence, ...]

    @property
    def exit_code(self) -> int:
        """1 when the evidence disagrees, else 0."""
        return int(self.disagreement)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; a number that is not finite is null."""
        return {"schema_version": SCHEMA_VERSION, **fields(self)}

    def to_text(self) -> str:
        """The verdict, and for each kind of evidence what it says, why, and its numbers."""
        lines = [f"{self.target}: {self.layout or 'cannot tell'}", self.verdict]
        for one in self.evidence:
            told = one.layout or ("moved twice" if one.twice else "cannot tell")
            lines += ["", f"{one.kind}: {told}", f"  {one.words}"]
            lines += [f"  {_named(one.kind, name)}: {value:.4g}" for name, value in one.numbers.items()]
        return "\n".join(lines)


def _named(kind: Kind, name: str) -> str:
    """A number with what was measured: the loss on the text, with rows in one order or another."""
    rows = name.startswith(("as it is", "gathered"))
    return f"loss on the text with rows {name.replace('as it is', 'as they are')}" if kind == "loss" and rows else name
