"""Causal models without an encoding."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="Haviv et al. 2022, arXiv:2203.16634; f(PX) = P f(X) without a mask")
def risk_order_from_mask(facts: Facts) -> Iterator[Effect]:
    """Without an encoding all order comes from the causal mask, so a model that loses it is blind to order."""
    if facts.causal:
        yield Expect("nope", "the causal mask is lost, and with it all order", "PE302")
