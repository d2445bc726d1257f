"""Sinusoids in new models."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import SINUSOID_SIZES, TRANSLATION
from gnomon.advisor.rule import rule


@rule(stage="points", source="Haviv et al. 2022, arXiv:2203.16634, table 2; Su et al. 2021, arXiv:2104.09864, table 1")
def sinusoid_is_no_default(facts: Facts) -> Iterator[Effect]:
    """A new model does not start from sinusoids: causal models with them are behind at every size measured, and in
    translation they are no better than rotary.
    """
    if facts.existing is None and facts.axes == 1:
        if facts.causal:
            yield Score("sinusoidal", -1, "behind at the trained length at every size measured", SINUSOID_SIZES)
        else:
            yield Score("sinusoidal", -1, "no better than rotary within its length", TRANSLATION)
