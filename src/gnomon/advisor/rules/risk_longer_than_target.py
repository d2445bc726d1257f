"""Inputs beyond the target."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="arithmetic: the share of the lengths given that are above the target")
def risk_longer_than_target(facts: Facts) -> Iterator[Effect]:
    """Where some of the lengths given are above a stated target, those inputs are cut, or go where nothing is
    promised.
    """
    above = facts.share_above(facts.target)
    if above:
        most = "" if facts.counted else "at most "
        yield Expect(
            ALL, f"{most}{above:.2%} of the inputs are longer than the target of {facts.target} tokens", "PE701"
        )
