"""Sinusoids in new models."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import SINUSOID_SIZES
from gnomon.advisor.rule import rule


@rule(stage="points", source="Haviv et al. 2022, arXiv:2203.16634, table 2")
def sinusoid_is_no_default(facts: Facts) -> Iterator[Effect]:
    """A new model does not start from sinusoids: they are behind at the trained length at every size measured."""
    if facts.existing is None and facts.axes == 1:
        yield Score("sinusoidal", -1, "behind at the trained length at every size measured", SINUSOID_SIZES)
