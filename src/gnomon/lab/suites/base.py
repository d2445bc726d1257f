"""A suite: a question, the runs that answer it, and what is expected of them, with sources."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from gnomon.registry import Registry
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.study import Judgement

Size = Literal["quick", "full"]
registry: Registry[type["Suite"]] = Registry("suite", package="gnomon.lab.suites")


@final
@dataclass(frozen=True)
class Pair:
    """Two variants to compare seed by seed, on one measure at one place (None: a measure that is one number)."""

    group: str
    measure: str
    at: float | None
    a: str
    b: str


class Suite(ABC):
    """Registered under the name that `gnomon lab NAME` takes."""

    name: ClassVar[str]
    title: ClassVar[str]  #: a few words
    question: ClassVar[str]  #: one sentence
    expectation: ClassVar[str]  #: one or two sentences, with what they rest on
    sources: ClassVar[tuple[str, ...]]

    def needs(self, size: Size) -> tuple[str, ...]:
        """The data sets that this size reads and that must be fetched first, with `gnomon lab data NAME`."""
        return ()

    @abstractmethod
    def method(self, size: Size) -> str:
        """What is trained and measured, in two or three sentences with the numbers."""

    @abstractmethod
    def runs(self, size: Size, seeds: Sequence[int]) -> list[Run]:
        """Independent runs, the longest first where they differ much."""

    @abstractmethod
    def pairs(self, size: Size) -> list[Pair]:
        """The comparisons that the question is about."""

    @abstractmethod
    def judge(self, evidence: Evidence, size: Size) -> list[Judgement]:
        """Each expectation against the numbers. What was not measured is said to be not measured."""
