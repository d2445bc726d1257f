"""Checkpoints that are long enough."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="points", source="arithmetic: the target is within the trained length")
def within_trained_length(facts: Facts) -> Iterator[Effect]:
    """A checkpoint keeps its encoding when the target is within its trained length."""
    if facts.existing is not None and facts.target <= facts.trained:
        yield Score("keep", 5, f"{facts.target} tokens are within its {facts.trained}")
