"""KERPLE's size."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="options", source="Chi et al. 2022, arXiv:2205.09921: the logarithmic kernel, two numbers a head")
def options_kerple(facts: Facts) -> Iterator[Effect]:
    """KERPLE is taken in its logarithmic form, with two numbers for each head."""
    if facts.existing is None and facts.causal:
        yield Build("kerple", {"num_heads": facts.num_heads, "form": "log"})
