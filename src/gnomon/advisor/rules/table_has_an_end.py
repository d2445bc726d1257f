"""Tables and input without a longest length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="arithmetic: a table has as many positions as rows")
def table_has_an_end(facts: Facts) -> Iterator[Effect]:
    """Inputs that have no longest length rule out what has a last position: tables, and random ids of a span."""
    if facts.unlimited:
        for encoding in ("learned", "randomized"):
            yield Exclude(encoding, "it has a last position, and inputs have no longest length")
