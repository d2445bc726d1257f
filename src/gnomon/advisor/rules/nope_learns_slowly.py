"""Causal models without an encoding."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import IN_DOMAIN, NOPE_SIZES
from gnomon.advisor.rule import rule


@rule(stage="points", source="Haviv et al. 2022, arXiv:2203.16634, table 2; DaRoPE, Levy et al. 2026, in-domain table")
def nope_learns_slowly(facts: Facts) -> Iterator[Effect]:
    """A causal model without any encoding is behind at the trained length, the more the smaller it is."""
    if facts.existing is None and facts.causal:
        small = facts.dim < 1024
        yield Score("nope", -3 if small else -2, "behind at the trained length", IN_DOMAIN if small else NOPE_SIZES)
