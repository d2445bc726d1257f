"""The size of sinusoids beside the words."""

import math
from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule


@rule(stage="options", source="Vaswani et al. 2017, arXiv:1706.03762, sections 3.4 and 3.5")
def options_sinusoidal(facts: Facts) -> Iterator[Effect]:
    """Sinusoids are as wide as the model and as large as sqrt(d / 2), so the words are multiplied by sqrt(d)."""
    if facts.existing is None and facts.axes == 1:
        norm = math.sqrt(facts.dim / 2)
        told = arithmetic(
            f"sin^2 + cos^2 = 1 for each of {facts.dim // 2} pairs, so every vector has length {norm:.4g}"
        )
        yield Build("sinusoidal", {"dim": facts.dim}, {"norm": round(norm, 4)}, told)
        yield Step(
            "sinusoidal",
            f"multiply the word vectors by sqrt({facts.dim}) = {math.sqrt(facts.dim):.4g}, as the paper does",
        )
