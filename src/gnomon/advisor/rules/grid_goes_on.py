"""Checkpoints of grids, at larger sizes."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import VISION
from gnomon.advisor.rule import rule

GO_ON = ("axial_rotary", "mixed_rotary")


@rule(stage="points", source="Heo et al. 2024, arXiv:2403.13298, DeiT-III at 224 and 384 pixels")
def grid_goes_on(facts: Facts) -> Iterator[Effect]:
    """A checkpoint with a rotary encoding of a grid keeps it at larger sizes: it loses less there than a table does."""
    if facts.existing in GO_ON and facts.target > facts.trained:
        yield Score("keep", 3, "it loses less at larger sizes than a table", VISION)
        if facts.fine_tune:
            yield Step("keep", "a few epochs at the larger size help where they are possible")
