"""A whole study, as plain data: the runs of one suite, what they say together, and how to repeat them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gnomon.plots.figure import Figure
from gnomon.report.lab.results import MeasureInfo, Result, Run

SCHEMA_VERSION = 1
Outcome = Literal["holds", "fails", "no difference seen", "not measured"]


@dataclass(frozen=True)
class Comparison:
    """Two variants on one measure at one place, seed by seed. The interval is that of the mean difference a - b.

    `low` and `high` are None where there are fewer than two seeds in common.
    """

    group: str
    measure: str
    at: float | None
    a: str
    b: str
    seeds: int
    difference: float
    low: float | None
    high: float | None
    confidence: float = 0.95

    @property
    def decided(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "decided": self.decided}


@dataclass(frozen=True)
class Ranking:
    """Variants by their mean over the seeds that all of them have (three at least), best first.

    `ties` are the pairs of the first and another between which no difference is seen, corrected for the number of pairs
    with the first by Holm's method.
    """

    group: str
    measure: str
    at: float | None
    names: tuple[str, ...]
    means: tuple[float, ...]
    ties: tuple[tuple[str, str], ...]
    seeds: int
    confidence: float = 0.95

    @property
    def best(self) -> tuple[str, ...]:
        """The first and those that no difference to it is seen of."""
        first, *others = self.names
        return (first, *(name for name in others if {(first, name), (name, first)} & set(self.ties)))

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "best": list(self.best)}


@dataclass(frozen=True)
class Judgement:
    """One expectation, with where it comes from, held against what was measured. `numbers` are what was compared."""

    statement: str
    source: str
    outcome: Outcome
    seen: str  #: one sentence with the numbers
    numbers: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {**self.__dict__, "numbers": dict(self.numbers)}


@dataclass(frozen=True)
class Failure:
    """A run that ended in an error, which is shown and never hidden."""

    run: Run
    message: str

    def to_dict(self) -> dict[str, Any]:
        return {"run": self.run.to_dict(), "message": self.message}


@dataclass(frozen=True)
class Study:
    """The runs of one suite and what they say. Figures are for people; the JSON form leaves them out."""

    suite: str
    title: str
    question: str
    method: str
    size: str  #: quick or full
    command: str  #: repeats the study
    sources: tuple[str, ...] = ()
    measures: tuple[MeasureInfo, ...] = ()
    results: tuple[Result, ...] = ()
    failures: tuple[Failure, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    rankings: tuple[Ranking, ...] = ()  #: only those that may be printed
    judgements: tuple[Judgement, ...] = ()
    figures: tuple[Figure, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0  #: of all its runs one after another, whenever they were made

    def info(self, measure: str) -> MeasureInfo:
        """What the numbers of a measure mean."""
        return next(info for info in self.measures if info.name == measure)

    @property
    def seeds(self) -> tuple[int, ...]:
        return tuple(sorted({result.run.seed for result in self.results}))

    def to_dict(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "suite": self.suite,
            "title": self.title,
            "question": self.question,
            "method": self.method,
            "size": self.size,
            "command": self.command,
            "seeds": list(self.seeds),
            "sources": list(self.sources),
            "environment": dict(self.environment),
            "seconds": round(self.seconds, 1),
            "measures": [info.__dict__ for info in self.measures],
            "judgements": [judgement.to_dict() for judgement in self.judgements],
            "comparisons": [comparison.to_dict() for comparison in self.comparisons],
            "rankings": [ranking.to_dict() for ranking in self.rankings],
            "failures": [failure.to_dict() for failure in self.failures],
            "results": [result.to_dict() for result in self.results],
        }

    def to_json(self) -> str:
        """The study as JSON; docs/lab.md describes it."""
        return json.dumps(self.to_dict(), indent=1, ensure_ascii=False, allow_nan=False)
