"""Rotary encoding as the starting point."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import ENCODERS, IN_DOMAIN, TRANSLATION
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task


@rule(
    stage="points", source="DaRoPE, Levy et al. 2026, in-domain table; Su et al. 2021, arXiv:2104.09864, tables 1 and 5"
)
def rotary_by_default(facts: Facts) -> Iterator[Effect]:
    """For a new model on one axis, rotary encoding is the start: matched or best in its length, nothing to learn,
    no bias that an attention kernel must take, read by every serving program.
    """
    if facts.existing is None and facts.axes == 1:
        encoder = TRANSLATION if facts.task is Task.TRANSLATION else ENCODERS
        evidence = IN_DOMAIN if facts.causal else encoder
        yield Score("rotary", 3, "the usual choice, good within its length and fit for every kernel", evidence)
