"""Layers without positions, and pairs that do not turn."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule

LONG = 32768


@rule(
    stage="risks",
    source="Llama 4 and SmolLM3 configs: every fourth layer without; Barbero et al. 2024, arXiv:2410.06205, table 2",
)
def long_context_layers(facts: Facts) -> Iterator[Effect]:
    """From 32,768 tokens on a new causal model may leave every fourth layer without positions, or let only the fast
    three quarters of the pairs turn. The published gain of the latter is hundredths of perplexity.
    """
    if facts.existing is None and facts.axes == 1 and facts.causal and facts.target >= LONG:
        yield Step("rotary", "consider leaving every fourth layer without positions (nope), as Llama 4 and SmolLM3 do")
        yield Step(
            "rotary", 'or frequencies of kind "proportional" with fraction 0.75: perplexity 4.4414 against 4.4485'
        )
        yield Expect("rotary", "the list of layers without positions is read the other way round", "PE313")
