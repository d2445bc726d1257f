"""Mixed rotary encoding for an image."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="options", source="Heo et al. 2024, arXiv:2403.13298, section 3, and its code: base 10")
def options_mixed_rotary(facts: Facts) -> Iterator[Effect]:
    """Mixed rotary takes whole pairs for two axes; each layer has directions of its own."""
    if facts.axes > 1 and facts.existing is None:
        rotary_dim = facts.head_dim - facts.head_dim % 4
        yield Build(
            "mixed_rotary", {"num_heads": facts.num_heads, "head_dim": facts.head_dim, "rotary_dim": rotary_dim}
        )
        yield Step("mixed_rotary", "build one for each layer, and leave its directions out of weight decay")
