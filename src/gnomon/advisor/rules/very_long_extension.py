"""Factors beyond what YaRN was published for."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import FAR_EXTENDED
from gnomon.advisor.rule import rule

YARN_REACH = 32.0


@rule(
    stage="points", source="Ding et al. 2024, arXiv:2402.13753; Peng et al. 2023, arXiv:2309.00071, table 2, factor 32"
)
def very_long_extension(facts: Facts) -> Iterator[Effect]:
    """Beyond a factor of 32 YaRN and a larger base lose a point and interpolation two, and a search for factors of each
    pair (LongRoPE) is worth its price.
    """
    if facts.turns and facts.stretch > YARN_REACH:
        yield Score("yarn", -1, f"published up to a factor of {YARN_REACH:g}", FAR_EXTENDED)
        yield Score("linear", -2, "behind YaRN at such factors", FAR_EXTENDED)
        yield Score("ntk", -1, "nothing is published for such factors")
        yield Step("yarn", "consider a search for a factor of each pair: frequencies of kind longrope")
