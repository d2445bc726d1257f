"""Replacing the encoding of a trained model."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="arithmetic: the trained queries and keys were fitted to other scores")
def switching_needs_training(facts: Facts) -> Iterator[Effect]:
    """Another encoding gives every layer other scores, so without further training a switch is ruled out."""
    if facts.existing is not None and not facts.fine_tune:
        yield Exclude("switch", "another encoding needs further training, and there is to be none")
