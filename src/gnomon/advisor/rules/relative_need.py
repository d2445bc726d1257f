"""Tasks whose answer hangs on how far apart tokens are."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import SPANS, arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Need

MONOTONE = arithmetic(
    "-m |i - j| falls with distance in every head, so no head prefers a distance other than the nearest"
)


@rule(
    stage="points", source="Huang et al. 2020, arXiv:2009.13658; Barbero et al. 2024, arXiv:2410.06205, proposition 5.2"
)
def relative_need(facts: Facts) -> Iterator[Effect]:
    """Where relations between tokens decide, encodings that depend on differences gain and tables of positions lose.

    Penalties that only fall with distance gain less: by position alone they cannot prefer the token two back.
    """
    if facts.need is not Need.RELATIVE or facts.existing is not None:
        return
    for encoding in ("rotary", "t5", "transformer_xl"):
        yield Score(encoding, 2, "a head can learn to look at any one distance", SPANS)
    for encoding in ("alibi", "kerple"):
        yield Score(encoding, 1, "it depends on distance, but can only prefer what is near", MONOTONE)
    for encoding in ("learned", "sinusoidal", "nope"):
        yield Score(encoding, -2, "every relation must be learned anew at each position")
