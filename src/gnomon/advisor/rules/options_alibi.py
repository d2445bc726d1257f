"""ALiBi's form and slopes."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.slopes import alibi_slopes
from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit

FAR = 100_000  #: tokens beyond which the causal form, slope x key position, loses digits in float32


@rule(stage="options", source="Press et al. 2022, arXiv:2108.12409, section 3, and its code for other numbers of heads")
def options_alibi(facts: Facts) -> Iterator[Effect]:
    """ALiBi is causal under a causal mask (symmetric beyond 100,000 tokens, where float32 loses digits of the causal
    form), asymmetric in a model that sees both sides (symmetric for FlashAttention, which knows no other); slopes
    follow from the number of heads.
    """
    if facts.existing is None:
        flash = Limit.FLASH_ATTENTION in facts.limits
        far = facts.target > FAR if facts.causal else flash
        form = "symmetric" if far else "causal" if facts.causal else "asymmetric"
        slopes = [round(slope, 6) for slope in alibi_slopes(facts.num_heads)]
        told = arithmetic(f"2^(-8 h / H) for h = 1 .. H, H = {facts.num_heads}", "Press et al. 2022, section 3")
        options = {"num_heads": facts.num_heads, "form": form}
        yield Build("alibi", options, {"slopes": slopes}, told)
        if flash:
            yield Step(
                "alibi", "give the kernel the slopes: flash_attn_func(..., alibi_slopes=encoding.flash_slopes())"
            )
