"""What Transformer-XL adds to every layer."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule

TWICE = arithmetic("q k and q r are two products of H T^2 d_head multiplications where others have one")


@rule(stage="points", source="Dai et al. 2019, arXiv:1901.02860, section 3.3: terms (b) and (d) of the score")
def second_score_product(facts: Facts) -> Iterator[Effect]:
    """Transformer-XL's encoding multiplies queries with positions as well as with keys: twice the work for scores."""
    if facts.existing is None and facts.axes == 1:
        yield Score("transformer_xl", -1, "it computes scores twice, and no fused kernel does", TWICE)
