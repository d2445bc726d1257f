"""Rows of a table that no training example reaches."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="arithmetic: a row of a table gets a gradient from the tokens at its position only")
def untrained_rows(facts: Facts) -> Iterator[Effect]:
    """A learned table cannot go beyond the lengths it was trained on: its further rows would stay as they were
    drawn.
    """
    if facts.existing is None and facts.target > facts.trained:
        rows = f"rows {facts.trained} to {facts.target - 1} of the table would never be trained"
        yield Exclude("learned", f"{rows}; train at {facts.target} tokens to use one")
