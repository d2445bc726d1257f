"""ALiBi in a model that sees both sides."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit

ALIKE = arithmetic("-m |i - j| is the same for j = i - 3 and j = i + 3")


@rule(stage="points", source="arithmetic: j - i and i - j have one size; issue 5 of the authors' repository")
def left_from_right(facts: Facts) -> Iterator[Effect]:
    """Where both sides are seen, ALiBi loses a point: by distance alone it cannot tell left from right."""
    if facts.existing is None and not facts.causal and facts.axes == 1:
        faint = "" if Limit.FLASH_ATTENTION in facts.limits else "; its asymmetric form tells by half a step only"
        yield Score("alibi", -1, f"by |i - j| it cannot tell left from right{faint}", ALIKE)
