"""Learned directions for each head, and heads that share their keys."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Exclude
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="exclusions", source="Heo et al. 2024, arXiv:2403.13298, section 3: each head has frequencies of its own")
def shared_key_heads(facts: Facts) -> Iterator[Effect]:
    """Mixed rotary turns each head its own way, so heads that share keys (grouped queries) cannot use it."""
    if facts.axes > 1 and facts.key_heads < facts.num_heads:
        yield Exclude(
            "mixed_rotary", f"{facts.num_heads} heads share {facts.key_heads} key heads, and turn differently"
        )
