"""Fused attention kernels that take no bias."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit

BIASES = ("t5", "kerple", "transformer_xl", "alibi_grid")


@rule(
    stage="exclusions", source="flash_attn_func of FlashAttention 2 has alibi_slopes and no argument for another bias"
)
def fused_attention(facts: Facts) -> Iterator[Effect]:
    """A fused kernel rules out what it cannot add to the logits: all biases but ALiBi's slopes, or every bias."""
    limits = facts.limits
    if limits & {Limit.FLASH_ATTENTION, Limit.NO_BIAS}:
        for encoding in BIASES:
            yield Exclude(encoding, "the fused attention takes no such bias on the logits")
    if Limit.NO_BIAS in limits:
        yield Exclude("alibi", "the fused attention takes no bias on the logits")
