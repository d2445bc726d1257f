"""What the advisor answers, as plain data: recommendations in order, what was ruled out, and the rules that fired."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

EvidenceKind = Literal["lab result", "published table", "arithmetic"]
SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Evidence:
    """One fact that a rule stands on: a measurement of the lab, a published table, or a sum that anyone can redo."""

    kind: EvidenceKind
    statement: str
    source: str


@dataclass(frozen=True)
class Points:
    """What one rule gave or took, and why. Points count reasons; they are neither probabilities nor perplexities."""

    points: int
    why: str
    rule: str


@dataclass(frozen=True)
class Risk:
    """What may go wrong, and the check of the doctor that would notice."""

    message: str
    check: str  #: as in PE511


@dataclass(frozen=True)
class Cost:
    """One price, with the sum that gives it."""

    name: str
    value: int
    unit: Literal["parameters", "bytes"]
    how: str


@dataclass(frozen=True)
class Recommendation:
    """One encoding with its options, ready for `gnomon.encodings.build(encoding, **options)`, and all that is said of
    it.

    `name` tells recommendations of one encoding apart: "yarn" and "linear" are both rotary. `numbers` are those that
    follow from the options (slopes, attention factor, share of the data that is cut). `steps` are for the user to do.
    """

    name: str
    encoding: str
    title: str
    options: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    points: tuple[Points, ...] = ()
    steps: tuple[str, ...] = ()
    costs: tuple[Cost, ...] = ()
    risks: tuple[Risk, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def total(self) -> int:
        return sum(given.points for given in self.points)


@dataclass(frozen=True)
class RuledOut:
    """An encoding that cannot be used here, and the rule that says so."""

    name: str
    encoding: str
    why: str
    rule: str


@dataclass(frozen=True)
class Fired:
    """One rule that changed something: the facts it read, what it changed, and where it comes from."""

    rule: str
    summary: str
    source: str
    facts: Mapping[str, Any]
    changes: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """One row of the article's table that this description meets, beside what is advised here."""

    row: str
    says: str
    advised: str
    agrees: bool
    why: str


@dataclass(frozen=True)
class Advice:
    """The answer to one description: `recommendations` best first, `facts` as they were given or worked out."""

    facts: Mapping[str, Any]
    assumptions: tuple[str, ...]
    recommendations: tuple[Recommendation, ...]
    ruled_out: tuple[RuledOut, ...] = ()
    article: tuple[Comparison, ...] = ()
    fired: tuple[Fired, ...] = ()
    gnomon: str = ""

    @property
    def best(self) -> Recommendation:
        return self.recommendations[0]

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "gnomon": self.gnomon,
            "facts": dict(self.facts),
            "assumptions": list(self.assumptions),
            "recommendations": [
                {"rank": rank, "total": it.total, **_fields(it)} for rank, it in enumerate(self.recommendations, 1)
            ],
            "ruled_out": [_fields(it) for it in self.ruled_out],
            "article": [_fields(it) for it in self.article],
            "fired": [_fields(it) for it in self.fired],
        }

    def to_json(self) -> str:
        """The advice as JSON, schema version 1; see docs/advisor.md."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        from gnomon.report.advice.text import render_advice

        return render_advice(self)


def _fields(item: Any) -> dict[str, Any]:
    """The fields of one of the classes above as JSON values, in the order they are declared."""
    return {name: _plain(value) for name, value in vars(item).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(held) for held in value]
    return _fields(value) if hasattr(value, "__dataclass_fields__") else value
