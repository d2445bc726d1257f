"""Rows that get few gradients, or none."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="arithmetic: a row gets a gradient from tokens at its position only")
def risk_rows_seldom_seen(facts: Facts) -> Iterator[Effect]:
    """The last rows of a table are read least, and rows that no batch reads stay noise."""
    yield Expect("learned", "the last rows are reached by fewer than one input in a thousand", "PE703")
    yield Expect("learned", "batches never read some rows, which stay as they were drawn", "PE512")
    yield Expect("interpolate", "rows that were added instead of resampled stay noise", "PE212")
