"""Text, images and video in one sequence."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task

SAME = arithmetic("with (p, p, p) for the token at place p of a text, every pair turns by p w_i as in rotary encoding")


@rule(
    stage="points", source="Qwen2-VL, Wang et al. 2024, arXiv:2409.12191, section 2.1; arithmetic on equal coordinates"
)
def time_height_width(facts: Facts) -> Iterator[Effect]:
    """For text with images, pairs turn by time, height and width: text is unchanged, and grids keep their shape."""
    if facts.task is Task.VISION_LANGUAGE and facts.existing is None:
        yield Score("mrope", 3, "text is turned as by rotary, and patches keep their rows and columns", SAME)
        yield Score("rotary", 1, "every kernel knows it, but patches below each other are a row apart")
