"""An encoder without positions cannot tell orders apart."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="Haviv et al. 2022, arXiv:2203.16634, table 4; f(PX) = P f(X) for every permutation P")
def order_blind_without_mask(facts: Facts) -> Iterator[Effect]:
    """A model that sees both sides cannot do without an encoding: reordering its input only reorders its output."""
    if not facts.causal and facts.existing is None:
        yield Exclude("nope", "a model that sees both sides is blind to order without an encoding")
