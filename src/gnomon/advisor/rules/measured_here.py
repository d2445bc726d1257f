"""Facts that the lab measured."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.report.advice.document import Evidence


@rule(stage="points", source="a file of measured facts, given by the user")
def measured_here(facts: Facts) -> Iterator[Effect]:
    """Measured facts that fit the description join as lab results, with the points that their file gives them."""
    for fact in facts.measured:
        if facts.stretch >= fact.least_stretch and fact.causal in (None, facts.causal):
            yield Score(fact.encoding, fact.points, "measured", Evidence("lab result", fact.statement, fact.source))
