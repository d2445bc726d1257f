"""Bases that are too small for the context."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.base_bound import LONGEST, least_base
from gnomon.advisor.arithmetic.scaling import factor_for, ntk_base
from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks",
    source="Men et al. 2024, arXiv:2405.14591, table 2: below the bound perplexity holds and retrieval fails",
)
def risk_base_below_bound(facts: Facts) -> Iterator[Effect]:
    """A plain rotary checkpoint whose base, or larger base of NTK-aware scaling, is below the bound of the target may
    show a good perplexity and find nothing far back.
    """
    if not facts.turns or facts.rotary_kind != "plain" or facts.rotary_dim <= 2:
        return
    base, bound = float(facts.frequencies.get("base", 10000.0)), least_base(min(facts.target, LONGEST))
    larger = ntk_base(base, factor_for(max(facts.target, facts.trained), facts.trained), facts.rotary_dim)
    for name, own in (("keep", base), ("ntk", larger)):
        if own < bound:
            said = f"a base of {own:.6g} is below the bound of {bound:.6g} for {facts.target} tokens"
            said += ": retrieval may fail" if facts.causal else "; the bound is one of causal models"
            yield Expect(name, said, "PE110")
