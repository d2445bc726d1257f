"""Expectations held against numbers: a bound that every seed must keep, and a difference that must be seen."""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import final

from gnomon.lab.statistics import compare
from gnomon.lab.suites.base import Pair
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.study import Comparison, Judgement, Outcome

Numbers = Mapping[int, float]  #: by seed


@final
@dataclass(frozen=True)
class AtMost:
    """A bound from above; it belongs to the allowed."""

    limit: float

    def kept(self, number: float) -> bool:
        return number <= self.limit

    def __str__(self) -> str:
        return f"at most {self.limit:g}"


@final
@dataclass(frozen=True)
class AtLeast:
    """A bound from below; it belongs to the allowed."""

    limit: float

    def kept(self, number: float) -> bool:
        return number >= self.limit

    def __str__(self) -> str:
        return f"at least {self.limit:g}"


@final
@dataclass(frozen=True)
class Expectation:
    """A sentence that can turn out wrong, and where it comes from.

    >>> expected = Expectation("ALiBi holds at 8 times the trained length.", "Press et al. 2022")
    >>> expected.bounded("last-K perplexity over its own at the trained length", {0: 1.1, 1: 1.2}, AtMost(1.25)).seen
    'Last-K perplexity over its own at the trained length: mean 1.15, by seed 1.1, 1.2; expected at most 1.25.'
    """

    statement: str
    source: str

    def bounded(self, what: str, numbers: Numbers, bound: AtMost | AtLeast) -> Judgement:
        """Holds where every seed keeps the bound, fails where none does. Seeds on both sides show no difference."""
        if not numbers:
            return self.not_measured(what)
        kept = [bound.kept(number) for number in numbers.values()]
        outcome: Outcome = "holds" if all(kept) else "no difference seen" if any(kept) else "fails"
        each = ", ".join(f"{number:.3g}" for number in numbers.values())
        seen = f"{_capital(what)}: mean {fmean(numbers.values()):.3g}, by seed {each}; expected {bound}."
        if outcome == "no difference seen":
            seen += f" {sum(kept)} of {len(kept)} seeds keep it."
        return self._judged(outcome, seen, {"by seed": dict(numbers), "bound": str(bound)})

    def lower(self, evidence: Evidence, pair: Pair, confidence: float = 0.95) -> Judgement:
        """Holds where `a` lies below `b` by more than chance explains, fails where it lies above by as much."""
        found = compare(evidence, pair, confidence)
        if found is None:
            return self.not_measured(f"{pair.a} and {pair.b} on {pair.measure}{_place(pair.at)}")
        outcome: Outcome = "not measured" if found.low is None else "no difference seen"
        if found.decided:
            outcome = "holds" if found.difference < 0 else "fails"
        return self._judged(outcome, _told(evidence, pair, found), {"comparison": found.to_dict()})

    def higher(self, evidence: Evidence, pair: Pair, confidence: float = 0.95) -> Judgement:
        """Holds where `a` lies above `b` by more than chance explains, fails where it lies below by as much."""
        return self.lower(evidence, Pair(pair.group, pair.measure, pair.at, pair.b, pair.a), confidence)

    def not_measured(self, what: str) -> Judgement:
        """No number was there to judge by."""
        return self._judged("not measured", f"{_capital(what)}: not measured.", {})

    def _judged(self, outcome: Outcome, seen: str, numbers: Mapping[str, object]) -> Judgement:
        return Judgement(self.statement, self.source, outcome, seen, numbers)


def ratios(over: Numbers, under: Numbers) -> dict[int, float]:
    """Seed by seed, where both were measured and the divisor is not zero.

    >>> ratios({0: 3.0, 1: 8.0}, {1: 2.0, 2: 1.0})
    {1: 4.0}
    """
    return {seed: over[seed] / under[seed] for seed in sorted(over.keys() & under.keys()) if under[seed] != 0}


def worst(several: list[dict[int, float]]) -> dict[int, float]:
    """The largest number of each seed that all of them have; nothing for an empty list.

    >>> worst([{0: 1.0, 1: 5.0}, {0: 3.0, 1: 2.0, 2: 9.0}])
    {0: 3.0, 1: 5.0}
    """
    common = set.intersection(*(set(numbers) for numbers in several)) if several else set()
    return {seed: max(numbers[seed] for numbers in several) for seed in sorted(common)}


def _told(evidence: Evidence, pair: Pair, found: Comparison) -> str:
    a, b = (evidence.mean(pair.group, name, pair.measure, pair.at) for name in (pair.a, pair.b))
    where = f"{pair.measure}{_place(pair.at)} in {pair.group}"
    if found.low is None or found.high is None:
        interval = "one seed gives no interval"
    else:
        interval = f"{found.confidence:.0%} interval {found.low:.3g} to {found.high:.3g} over {found.seeds} seeds"
    return f"{_capital(where)}: {pair.a} {a:.3g}, {pair.b} {b:.3g}; difference {found.difference:.3g}, {interval}."


def _place(at: float | None) -> str:
    return "" if at is None else f" at {at:g}"


def _capital(text: str) -> str:
    """The beginning of a sentence; names of measures as words."""
    words = text.replace("_", " ")
    return words[:1].upper() + words[1:]
