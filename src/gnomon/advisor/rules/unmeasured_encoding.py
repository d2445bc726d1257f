"""Checkpoints whose encoding has no known measurement beyond its length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule

MEASURED = ("rotary", "mrope", "learned", "alibi", "t5", "kerple", "transformer_xl", "sinusoidal", "nope")
GRIDS = ("axial_rotary", "mixed_rotary")


@rule(stage="points", source="none: no matched public comparison has this encoding beyond its trained length")
def unmeasured_encoding(facts: Facts) -> Iterator[Effect]:
    """A checkpoint whose encoding was not compared beyond its trained length is kept, and has to be measured there."""
    if facts.existing not in (None, *MEASURED, *GRIDS) and facts.target > facts.trained:
        yield Score("keep", 1, "no public comparison says how it holds beyond its length")
        yield Step("keep", f"measure loss by position up to {facts.target} tokens before it is used there")
