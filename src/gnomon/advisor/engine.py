"""Asks every rule in order, keeps what each changed, and puts the candidates in order. It weighs nothing itself."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, cast

from gnomon.advisor.article import compare
from gnomon.advisor.assuming import facts_from
from gnomon.advisor.candidates import Candidate, candidates
from gnomon.advisor.contradictions import require_possible
from gnomon.advisor.description import Description
from gnomon.advisor.effects import ALL, Build, Effect, Exclude, Expect, Price, Score, Show, Step
from gnomon.advisor.facts import Facts, plain
from gnomon.advisor.rule import Rule, rules_in_order
from gnomon.errors import GnomonError
from gnomon.report.advice.document import Advice, Cost, Evidence, Fired, Points, Recommendation, Risk, RuledOut


def answer(description: Description) -> Advice:
    """The advice for a description.

    Raises GnomonError for one that contradicts itself, or when the rules leave no encoding.
    """
    require_possible(description)
    facts, assumptions = facts_from(description)
    drafts = [Draft(candidate) for candidate in candidates(facts)]
    fired = [trace for rule in rules_in_order() if (trace := _fire(rule, facts, drafts))]
    left = sorted((draft for draft in drafts if draft.out is None), key=lambda draft: -draft.total)  # stable: ties stay
    out = tuple(draft.out for draft in drafts if draft.out is not None)
    if not left:
        said = " ".join(f"{it.name}: {it.why}." for it in out)
        raise GnomonError(f"No encoding is left for this description. {said}")
    found = tuple(draft.finished() for draft in left)
    return Advice(facts.shown(), assumptions, found, out, compare(facts, found[0]), tuple(fired), version("gnomon"))


@dataclass
class Draft:
    """A recommendation while the rules are asked."""

    candidate: Candidate
    out: RuledOut | None = None
    options: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)
    points: list[Points] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    costs: list[Cost] = field(default_factory=list)
    risks: list[Risk] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)

    @property
    def total(self) -> int:
        return sum(given.points for given in self.points)

    def finished(self) -> Recommendation:
        one = self.candidate
        return Recommendation(
            one.name,
            one.encoding,
            one.title,
            self.options,
            self.numbers,
            tuple(self.points),
            tuple(self.steps),
            tuple(self.costs),
            tuple(self.risks),
            tuple(dict.fromkeys(self.evidence)),
        )

    def take(self, effect: Effect, rule: str) -> str:
        """Apply one effect, and say in a line what it changed."""
        name = self.candidate.name
        match effect:
            case Exclude():
                self.out = RuledOut(name, self.candidate.encoding, effect.why, rule)
                return f"{name}: ruled out, {effect.why}"
            case Score():
                self.points.append(Points(effect.points, effect.why, rule))
                self.evidence += [effect.evidence] if effect.evidence else []
                return f"{name}: {effect.points:+d}, {effect.why}"
            case Build():
                self.options |= effect.options
                self.numbers |= effect.numbers
                self.evidence += [effect.evidence] if effect.evidence else []
                return f"{name}: {', '.join([*effect.options, *effect.numbers])}"
            case Show():
                self.evidence.append(effect.evidence)
                return f"{name}: {effect.evidence.kind}, {effect.evidence.statement}"
            case Step():
                self.steps.append(effect.text)
                return f"{name}: {effect.text}"
            case Expect():
                self.risks.append(Risk(effect.message, effect.check))
                return f"{name}: {effect.check}"
            case Price():
                self.costs.append(effect.cost)
                return f"{name}: {effect.cost.name} {effect.cost.value} {effect.cost.unit}"


class Watched:
    """Facts that note which of them a rule reads."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self.read: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._facts, name)
        if not callable(value):
            self.read[name] = plain(value)
        return value


def _fire(rule: Rule, facts: Facts, drafts: list[Draft]) -> Fired | None:
    """The trace of a rule that changed something; None for one that did not."""
    watched = Watched(facts)
    changes = tuple(
        draft.take(effect, rule.name) for effect in rule.body(cast(Facts, watched)) for draft in _meant(effect, drafts)
    )
    return Fired(rule.name, rule.summary, rule.source, watched.read, changes) if changes else None


def _meant(effect: Effect, drafts: list[Draft]) -> Iterator[Draft]:
    """The candidates that an effect is for and that are still there."""
    for draft in drafts:
        if draft.out is None and effect.to in (ALL, draft.candidate.name, draft.candidate.encoding):
            yield draft
