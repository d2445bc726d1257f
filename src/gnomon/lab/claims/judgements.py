"""A claim read from what a suite says of its own expectations."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from gnomon.lab.claims.base import Numbers, OfSuite, Reading, Said
from gnomon.lab.suites import Size
from gnomon.lab.suites import registry as suites
from gnomon.report.lab.claims import Verdict
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import Run
from gnomon.report.lab.spread import spread
from gnomon.report.lab.study import Judgement, Outcome

SAME: Final = "no difference seen"


class OfJudgements(OfSuite):
    """Some variants of a suite, and those of its judgements that hold the article's words against them."""

    variants: ClassVar[tuple[str, ...]]  #: what has to be run
    words: ClassVar[tuple[str, ...]]  #: a judgement counts when its statement has one of these in it
    measures: ClassVar[tuple[str, ...]]  #: whose numbers are printed

    def keeps(self, run: Run) -> bool:
        return run.variant in self.variants

    def read(self, evidence: Evidence, size: Size) -> Reading | None:
        every = suites.get(self.suite)().judge(evidence, size)
        mine = [each for each in every if any(word in each.statement for word in self.words)]
        said = combined(mine)
        return None if said is None else Reading(said, shown(evidence, self.variants, self.measures))


def combined(judgements: Sequence[Judgement]) -> Said | None:
    """One verdict for all that were measured: one where they agree, "depends" where they do not.

    >>> from gnomon.report.lab.study import Judgement
    >>> combined([Judgement("a", "", "holds", "A."), Judgement("b", "", "fails", "B.")])
    Said(verdict='depends', seen='A. B.')
    """
    measured = [each for each in judgements if each.outcome != "not measured"]
    if not measured:
        return None
    outcomes = {each.outcome for each in measured}
    agreed: dict[Outcome, Verdict] = {"holds": "holds", "fails": "fails"}
    verdict = agreed.get(measured[0].outcome, "depends") if len(outcomes) == 1 else "depends"
    return Said(verdict, " ".join(_sentence(each) for each in measured))


def shown(evidence: Evidence, variants: Iterable[str], measures: Iterable[str]) -> Numbers:
    """The spread of each variant on each measure at its last place, by group."""
    numbers = {}
    for group in evidence.groups():
        for measure in measures:
            at = evidence.places(group, measure)[-1]
            for variant in variants:
                if by_seed := evidence.by_seed(group, variant, measure, at):
                    numbers[f"{group}, {variant}, {measure}"] = spread(by_seed)
    return numbers


def _sentence(judgement: Judgement) -> str:
    """What was seen; that no difference was, where the sentence does not say so itself."""
    if judgement.outcome == SAME and SAME not in judgement.seen:
        return f"{judgement.seen.rstrip('.')} ({SAME})."
    return judgement.seen
