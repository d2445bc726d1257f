"""Checkpoints with sinusoids, beyond their length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import press
from gnomon.advisor.rule import rule


@rule(stage="points", source="Press et al. 2022, arXiv:2108.12409, table 2")
def sinusoid_ends_early(facts: Facts) -> Iterator[Effect]:
    """A checkpoint with sinusoids does not go beyond its length, although its table does: switch, or train longer."""
    if facts.existing == "sinusoidal" and facts.target > facts.trained:
        yield Score("keep", -3, "the table goes on, the model does not", press("sinusoidal", facts.stretch))
        yield Score("switch", 2, "rotary can be extended")
