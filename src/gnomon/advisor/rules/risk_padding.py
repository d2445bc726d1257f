"""Batches of very different lengths."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Expect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule

SPREAD = 3.0  #: the 95th percentile over the middle length, above which padding wastes most slots


@rule(stage="risks", source="arithmetic: a padded row has the length of the longest in its batch")
def risk_padding(facts: Facts) -> Iterator[Effect]:
    """Where the 95th percentile is more than three times the middle length, padded batches are mostly padding: pack
    or sort them, and count positions from the start of each document.
    """
    if facts.p50 and facts.p95 is not None and facts.p95 > SPREAD * facts.p50:
        yield Expect(
            ALL,
            f"batches are mostly padding: the middle input has {facts.p50} tokens, the 95th of 100 {facts.p95}",
            "PE705",
        )
        yield Step(
            ALL, "sort inputs by length or pack them; positions start at 0 in each document (PE405 would notice)"
        )
