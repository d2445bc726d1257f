"""Claims of the article held against measurements, as plain data."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from gnomon.report.lab.spread import Spread

SCHEMA_VERSION = 1
Verdict = Literal["holds", "fails", "depends", "not measurable here", "not measured"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
PAGE = "docs/article.md"  #: says of each claim what is true and what gnomon does


@dataclass(frozen=True)
class ClaimResult:
    """One claim: what the article says, what is known, and what was measured here.

    `numbers` are what the verdict rests on, over seeds. `private` names figures of the article that come from
    experiments that nobody can repeat; the verdict is about the rest. `links` are codes of checks.
    """

    number: int
    section: str  #: of the article
    statement: str
    truth: str  #: with its source
    verdict: Verdict
    seen: str  #: one or two sentences with the numbers; why there are none, otherwise
    numbers: Mapping[str, Spread] = field(default_factory=dict)
    private: str = ""
    links: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def page(self) -> str:
        """Where the docs speak of it."""
        return f"{PAGE}#claim-{self.number}"

    def to_dict(self) -> dict[str, Any]:
        return {
            "number": self.number,
            "section": self.section,
            "statement": self.statement,
            "truth": self.truth,
            "verdict": self.verdict,
            "seen": self.seen,
            "numbers": {name: dict(spread.__dict__) for name, spread in self.numbers.items()},
            "private": self.private,
            "links": [self.page, *self.links],
            "seconds": round(self.seconds, 2),
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "ClaimResult":
        numbers = {name: Spread(**spread) for name, spread in fields["numbers"].items()}
        kept = {name: fields[name] for name in ("number", "section", "statement", "truth", "verdict", "seen")}
        links = tuple(fields["links"][1:])
        return cls(**kept, numbers=numbers, private=fields["private"], links=links, seconds=fields["seconds"])


@dataclass(frozen=True)
class ClaimsReport:
    """All claims that were asked for, in the article's order, with when and where they were measured."""

    claims: tuple[ClaimResult, ...]
    size: str  #: direct, quick or full
    command: str  #: repeats it
    date: str  #: YYYY-MM-DD
    seeds: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many claims ended in each verdict, those with none left out."""
        found = {verdict: sum(claim.verdict == verdict for claim in self.claims) for verdict in VERDICTS}
        return {verdict: count for verdict, count in found.items() if count}

    @property
    def summary(self) -> str:
        """The counts in words, as in "3 hold, 1 fails".

        >>> known = ClaimResult(18, "3.3", "the norm is 22.6", "it is 16", "fails", "16.000")
        >>> ClaimsReport((known,), "direct", "gnomon lab claims", "2026-01-31").summary
        '1 fails'
        """
        plural: dict[Verdict, str] = {"holds": "hold", "fails": "fail", "depends": "depend"}
        return ", ".join(
            f"{count} {plural.get(verdict, verdict) if count > 1 else verdict}"
            for verdict, count in self.counts.items()
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "size": self.size,
            "command": self.command,
            "date": self.date,
            "seeds": list(self.seeds),
            "environment": dict(self.environment),
            "seconds": round(self.seconds, 1),
            "summary": {verdict: self.counts.get(verdict, 0) for verdict in VERDICTS},
            "claims": [claim.to_dict() for claim in self.claims],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> "ClaimsReport":
        """Read what `to_dict` wrote."""
        kept = {name: fields[name] for name in ("size", "command", "date", "environment", "seconds")}
        claims = tuple(ClaimResult.from_dict(each) for each in fields["claims"])
        return cls(claims, seeds=tuple(fields["seeds"]), **kept)
