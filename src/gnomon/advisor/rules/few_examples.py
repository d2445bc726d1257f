"""Tables with little data."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule

SHARE = 20  #: one example in so many reaches the rows above the 95th percentile
LEAST = 50  #: gradients in a pass over the data, below which such a row stays close to how it was drawn


@rule(stage="points", source="arithmetic: a twentieth of the examples reaches rows above the 95th percentile")
def few_examples(facts: Facts) -> Iterator[Effect]:
    """With fewer than 1000 examples the last rows of a table get fewer than 50 gradients in a pass over the data."""
    if facts.existing is None and facts.examples is not None and facts.examples < SHARE * LEAST:
        visits = facts.examples // SHARE
        told = arithmetic(f"{facts.examples} examples / {SHARE} = {visits} that reach rows above the 95th percentile")
        yield Score("learned", -3, f"its last rows get at most {visits} gradients in a pass over the data", told)
