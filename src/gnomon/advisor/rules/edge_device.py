"""Models that run on small devices."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import SPEED, arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Device


@rule(
    stage="points", source="Press et al. 2022, arXiv:2108.12409, table 1; arithmetic: 6 d of 24 d^2 per token and layer"
)
def edge_device(facts: Facts) -> Iterator[Effect]:
    """On an edge device, what adds nothing to a layer gains a point, and what needs a whole bias or products loses.

    Rotary loses nothing: its share of a layer's arithmetic is 1 part in 4 times the width.
    """
    if facts.device is not Device.EDGE or facts.existing is not None:
        return
    share = arithmetic(
        f"turning queries and keys: 6 d of 24 d^2 = 1 / (4 x {facts.dim}) = {25 / facts.dim:.2g} percent of a layer"
    )
    yield Score("rotary", 0, "turning costs next to nothing", share)
    for encoding in ("sinusoidal", "alibi", "nope"):
        yield Score(encoding, 1, "it adds no parameters and hardly any work", SPEED)
    for encoding, loss in (("t5", 1), ("kerple", 1), ("transformer_xl", 2)):
        yield Score(encoding, -loss, "it makes a number for every query, key and head", SPEED)
