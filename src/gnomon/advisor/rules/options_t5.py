"""T5's buckets."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task

BUCKETS, WIDEST = 32, 128


@rule(stage="options", source="Raffel et al. 2020, arXiv:1910.10683, section 2.1: 32 buckets, 128 tokens")
def options_t5(facts: Facts) -> Iterator[Effect]:
    """T5's bias gets its 32 buckets; the last one starts at 128 tokens, or at the trained length if that is shorter, so
    that no bucket stays untrained.
    """
    if facts.existing is None:
        exact = BUCKETS // (2 if facts.causal else 4)
        distance = max(exact + 1, min(WIDEST, facts.trained))
        direction = "causal" if facts.causal else "both"
        options = {
            "num_heads": facts.num_heads,
            "num_buckets": BUCKETS,
            "max_distance": distance,
            "direction": direction,
        }
        yield Build("t5", options)
        yield Step(
            "t5",
            "T5 does not divide its logits by sqrt(head_dim) and shares one table among layers: choose, and keep to it",
        )
        if facts.task in (Task.TRANSLATION, Task.SUMMARISATION) and not facts.causal:
            yield Step("t5", 'the decoder gets one of its own with direction="causal", and cross-attention none')
