"""Tasks whose answer hangs on where in the input a token stands."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Need

SHIFTED = arithmetic("scores that depend on i - j are the same after every shift, so equal tokens all look alike")


@rule(
    stage="points", source="arithmetic: f(i - j) is unchanged when all positions are shifted; the article, section 2.3"
)
def absolute_need(facts: Facts) -> Iterator[Effect]:
    """Where absolute positions decide, a table of vectors gains most, and encodings of differences lose.

    In a causal model they lose half as much: the mask tells where the sequence starts. Penalties for distance lose one
    more, since far tokens do not see a start token.
    """
    if facts.need is not Need.ABSOLUTE or facts.existing is not None:
        return
    loss = 1 if facts.causal else 2
    yield Score("learned", 5, "each position has a vector of its own, fitted to the task")
    yield Score("sinusoidal", 1, "each position has a vector of its own")
    for encoding in ("alibi", "kerple"):
        yield Score(encoding, -loss - 1, "it tells no position, and its penalty hides the start of the input", SHIFTED)
    for encoding in ("t5", "transformer_xl", "nope"):
        yield Score(encoding, -loss, "scores do not tell where a token stands", SHIFTED)
    yield Score("rotary", 1 - loss, "scores do not tell where a token stands, so add a start token", SHIFTED)
