"""A checkpoint's own table and inputs that are longer than it."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="arithmetic: position p needs row p")
def rows_end_here(facts: Facts) -> Iterator[Effect]:
    """A checkpoint with a learned table cannot stay as it is when the target is longer than the table."""
    if facts.existing == "learned" and facts.target > facts.trained:
        yield Exclude("keep", f"its table ends at {facts.trained} positions, and {facts.target} are needed")
