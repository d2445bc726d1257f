"""What a rule can do to the candidates. `to` names a candidate, or an encoding and so all candidates of it, or all."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnomon.report.advice.document import Cost, Evidence

ALL = "*"


@dataclass(frozen=True)
class Score:
    """Give or take points for one reason, with what the reason stands on."""

    to: str
    points: int
    why: str
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Exclude:
    """Rule a candidate out; nothing brings it back."""

    to: str
    why: str


@dataclass(frozen=True)
class Build:
    """Set options of the encoding, and note numbers that follow from them."""

    to: str
    options: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None


@dataclass(frozen=True)
class Show:
    """Evidence that moves nothing."""

    to: str
    evidence: Evidence


@dataclass(frozen=True)
class Step:
    """Something for the user to do beside building the encoding."""

    to: str
    text: str


@dataclass(frozen=True)
class Expect:
    """Something that may go wrong, and the code of the check that would notice."""

    to: str
    message: str
    check: str


@dataclass(frozen=True)
class Price:
    """One cost."""

    to: str
    cost: Cost


Effect = Score | Exclude | Build | Show | Step | Expect | Price
