"""What a claim is: a statement of the article, what is known about it, and a measurement that can contradict it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar, final

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.suites.base import Size
from gnomon.registry import Registry
from gnomon.report.lab.claims import Verdict
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.spread import Spread
from gnomon.report.lab.words import written, written_spread

Numbers = Mapping[str, Spread]
registry: Registry[type["Claim"]] = Registry("claim", package="gnomon.lab.claims")


@final
@dataclass(frozen=True)
class Said:
    """A verdict, and one or two sentences with the numbers that it rests on."""

    verdict: Verdict
    seen: str


class Claim(ABC):
    """Registered under its number in docs/article.md, with the section of the article that it stands in."""

    number: ClassVar[int]
    section: ClassVar[str]
    statement: ClassVar[str]  #: what the article says, in our words
    truth: ClassVar[str]  #: what is known, with its source
    gnomon: ClassVar[str] = ""  #: what gnomon has to do with it, in Markdown
    private: ClassVar[str] = ""  #: figures from experiments that nobody can repeat


class Measured(Claim):
    """Measured in one process in seconds."""

    seeded: ClassVar[bool] = True  #: something is drawn, so several seeds are run; False: one run tells all
    trains: ClassVar[bool] = False  #: takes more than a few seconds

    @abstractmethod
    def measure(self, context: Context) -> dict[str, float]:
        """Numbers by name. Draws come from `context.generator` alone."""

    @abstractmethod
    def judge(self, numbers: Numbers) -> Said:
        """The verdict on the article's statement."""


@final
@dataclass(frozen=True)
class Reading:
    """What a suite says of a claim, and the numbers that are printed with it."""

    said: Said
    numbers: Numbers


class OfSuite(Claim):
    """Read from runs of a suite of the lab."""

    suite: ClassVar[str]

    @abstractmethod
    def keeps(self, run: Run) -> bool:
        """Whether the claim needs this run of the suite."""

    @abstractmethod
    def read(self, evidence: Evidence, size: Size) -> Reading | None:
        """The verdict on the article's statement, from the evidence of the suite; None where nothing was measured."""


class NotMeasurable(Claim):
    """Nothing in it can be measured here."""

    why: ClassVar[str]


C = TypeVar("C", bound=type[Claim])


def claim(number: int, section: str) -> Callable[[C], C]:
    """Register a claim under its number; a number is never used twice."""

    def add(cls: C) -> C:
        cls.number, cls.section = number, section
        registry.register(str(number))(cls)
        return cls

    return add


def all_claims(only: Collection[int] | None = None) -> list[Claim]:
    """The claims with these numbers (None: all of them) in the article's order.

    >>> [found.section for found in all_claims([18, 5])]
    ['1', '3.3']
    """
    known = {int(name): cls for name, cls in registry}
    if wrong := sorted(set(only or ()) - set(known)):
        raise GnomonError(
            f"The claims are numbered 1 to {max(known)} as in docs/article.md, got {', '.join(map(str, wrong))}."
        )
    return [known[number]() for number in sorted(known if only is None else set(only))]


def told(number: Spread, unit: str = "") -> str:
    """A number over seeds: the mean, and the standard deviation where seeds differ.

    >>> told(Spread(2.0, 1.5, 2.5, 0.5, 3)), told(Spread(16.0, 16.0, 16.0, 0.0, 3), " MB")
    ('2.00 ± 0.50', '16.0 MB')
    """
    return f"{written(number.mean) if number.low == number.high else written_spread(number)}{unit}"


def percent(share: Spread) -> str:
    """A share over seeds in percent.

    >>> percent(Spread(0.5, 0.25, 0.75, 0.25, 3)), percent(Spread(1.0, 1.0, 1.0, 0.0, 3))
    ('50.0 ± 25.0%', '100%')
    """
    sd = None if share.sd is None else 100 * share.sd
    return told(Spread(100 * share.mean, 100 * share.low, 100 * share.high, sd, share.seeds), "%")


def rounding(number: float) -> str:
    """An error of rounding in short.

    >>> rounding(3.4e-15), rounding(0.0)
    ('3e-15', '0')
    """
    return f"{number:.0e}" if number else "0"


def flag(holds: bool) -> float:
    """A yes or no among numbers: 1 or 0."""
    return float(holds)
