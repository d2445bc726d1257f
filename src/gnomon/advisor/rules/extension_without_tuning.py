"""Longer contexts without training."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import INTERPOLATED_AT_ONCE, YARN_AT_ONCE
from gnomon.advisor.rule import rule

SMALL = 4.0  #: factors up to which a larger base alone serves


@rule(stage="points", source="Chen et al. 2023, arXiv:2306.15595, table 3 at step 0; DaRoPE, Levy et al. 2026")
def extension_without_tuning(facts: Facts) -> Iterator[Effect]:
    """A plain rotary checkpoint that may not be trained further is extended by YaRN, or for small factors by a larger
    base;
    plain interpolation needs training.
    """
    if facts.rotary_kind == "plain" and facts.turns and facts.target > facts.trained and not facts.fine_tune:
        yield Score("yarn", 4, "it works at once, and leaves fast pairs as they were trained", YARN_AT_ONCE)
        yield Score("ntk", 3 if facts.stretch <= SMALL else 1, "it works at once, less well for large factors")
        yield Score("linear", -2, "it works only after fine-tuning", INTERPOLATED_AT_ONCE)
