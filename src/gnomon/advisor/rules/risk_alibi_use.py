"""How ALiBi goes wrong in use."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks",
    source="Press et al. 2022, section 3 and appendix B; docs/checks: PE304, PE308, PE401",
)
def risk_alibi_use(facts: Facts) -> Iterator[Effect]:
    """ALiBi's slopes have a published order, its bias counts tokens and not slots, and it is no causal mask. Its flat
    perplexity means that far tokens hardly count.
    """
    heads = facts.num_heads
    odd = f"; {heads} is no power of two, and the published order is not sorted" if heads & (heads - 1) else ""
    yield Expect("alibi", f"the bias has another sign or other slopes than the formula{odd}", "PE308")
    if facts.target > facts.trained:
        flat = (
            "longer inputs bring nothing: perplexity of causal models in a sliding window 17.98 at 512, 18.30 at 3072"
        )
        yield Expect("alibi", f"{flat} (Press et al. 2022, appendix B)", "PE510")
    yield Expect("alibi", "rows padded on the left count the padding", "PE401")
    if facts.causal:
        yield Expect("alibi", "the bias is taken for the causal mask, and the future leaks in", "PE304")
