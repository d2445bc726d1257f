"""Images and video."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import VISION
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task


@rule(stage="points", source="Heo et al. 2024, arXiv:2403.13298, DeiT-III at 224 and 384 pixels")
def rotary_on_grids(facts: Facts) -> Iterator[Effect]:
    """On grids rotary encodings come before tables: axial at the trained size, learned directions beyond it."""
    if facts.task in (Task.IMAGES, Task.VIDEO) and facts.existing is None:
        longer = facts.target > facts.trained
        yield Score("axial_rotary", 3 if longer else 4, "better than a table, with nothing to learn", VISION)
        yield Score("mixed_rotary", 4 if longer else 3, "best at sizes that it was not trained at", VISION)
        yield Score("sinusoidal_grid", 1, "it exists at every size")
