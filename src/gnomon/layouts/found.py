"""What was found about the layout of a checkpoint, evidence by evidence, and the verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, final

from gnomon.kernels.rotation import Layout

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
        """Plain data for JSON."""
        parts = [{**vars(one), "numbers": dict(one.numbers)} for one in self.evidence]
        return {**vars(self), "evidence": parts}

    def to_text(self) -> str:
        """The verdict, and for each kind of evidence what it says, why, and its numbers."""
        lines = [f"{self.target}: {self.layout or 'cannot tell'}", self.verdict]
        for one in self.evidence:
            told = one.layout or ("moved twice" if one.twice else "cannot tell")
            lines += ["", f"{one.kind}: {told}", f"  {one.words}"]
            lines += [f"  {name}: {value:.4g}" for name, value in one.numbers.items()]
        return "\n".join(lines)
