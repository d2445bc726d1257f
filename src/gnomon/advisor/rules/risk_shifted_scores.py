"""How Transformer-XL's shift goes wrong."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="Dai et al. 2019, arXiv:1901.02860, appendix B: scores are shifted row by row")
def risk_shifted_scores(facts: Facts) -> Iterator[Effect]:
    """The scores with positions are made for all distances and shifted; done wrongly, rows mix with each other."""
    yield Expect(
        "transformer_xl", "the shift of the position scores mixes rows, or leaves wrapped values unmasked", "PE315"
    )
    yield Expect("transformer_xl", "equal distances do not score alike", "PE311")
