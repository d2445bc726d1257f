"""Rotary checkpoints far beyond their length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import DIRECT
from gnomon.advisor.rule import rule
from gnomon.advisor.rules.grace_zone import within_grace


@rule(stage="points", source="Chen et al. 2023, arXiv:2306.15595, tables 1 and 4")
def rotary_beyond_trained(facts: Facts) -> Iterator[Effect]:
    """A rotary checkpoint used beyond its length, and the few tokens that it reaches, must be extended: as it is, it
    breaks.
    """
    if facts.turns and facts.target > facts.trained and not within_grace(facts):
        yield Score("keep", -5, "perplexity explodes beyond the trained length", DIRECT)
