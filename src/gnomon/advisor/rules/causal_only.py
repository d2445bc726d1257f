"""Encodings that are defined for keys before their query only."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="Chi et al. 2022, arXiv:2205.09921, and its code: a lower triangular bias")
def causal_only(facts: Facts) -> Iterator[Effect]:
    """KERPLE is defined and was measured under a causal mask, so a model that sees both sides does without it."""
    if not facts.causal and facts.existing is None:
        yield Exclude("kerple", "it is made for causal masks, and this model sees both sides")
