"""Checkpoints with a bias by distance, beyond their length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import KERPLE_LENGTHS, TRANSFORMER_XL_LENGTHS, press
from gnomon.advisor.rule import rule

TWICE = 2.0


@rule(stage="points", source="Press et al. 2022, arXiv:2108.12409, table 2; DAPE, arXiv:2405.14722, tables 5 and 6")
def bias_goes_on(facts: Facts) -> Iterator[Effect]:
    """A checkpoint with a bias by distance keeps it beyond its length: ALiBi as far as was measured, T5's to twice."""
    if facts.target <= facts.trained:
        return
    if facts.existing == "alibi":
        yield Score("keep", 5, "its perplexity stays flat beyond the trained length", press("alibi", facts.stretch))
    if facts.existing == "t5":
        holds = facts.stretch <= TWICE
        yield Score("keep", 4 if holds else 1, "the last bucket takes all far distances", press("t5", facts.stretch))
    if facts.existing == "kerple":
        yield Score("keep", 3, "its penalty goes on beyond the trained length", KERPLE_LENGTHS)
    if facts.existing == "transformer_xl":
        yield Score("keep", 3, "its distances go on beyond the trained length", TRANSFORMER_XL_LENGTHS)
