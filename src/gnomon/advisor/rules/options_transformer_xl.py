"""Transformer-XL's sizes."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="options", source="Dai et al. 2019, arXiv:1901.02860, section 3.3")
def options_transformer_xl(facts: Facts) -> Iterator[Effect]:
    """Transformer-XL's encoding takes the sizes of the model."""
    if facts.existing is None and facts.axes == 1:
        yield Build("transformer_xl", {"num_heads": facts.num_heads, "head_dim": facts.head_dim, "dim": facts.dim})
