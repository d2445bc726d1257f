"""Inputs beyond the trained length."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="Men et al. 2024, arXiv:2405.14591: perplexity looks fine where retrieval fails already")
def risk_beyond_trained(facts: Facts) -> Iterator[Effect]:
    """Where inputs in use are longer than those of training, quality may fall silently: measure loss by position, and
    retrieval beside it, since perplexity alone looks fine longer than it is.
    """
    if facts.target > facts.trained:
        yield Expect(ALL, f"inputs are longer than the {facts.trained} tokens of training", "PE513")
        if facts.causal:
            yield Expect(ALL, "later tokens are predicted worse than earlier ones", "PE510")
