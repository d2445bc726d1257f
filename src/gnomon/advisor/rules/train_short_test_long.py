"""New models that must serve longer inputs than they are trained on."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import KERPLE_LENGTHS, NOPE_LENGTHS, TRANSFORMER_XL_LENGTHS, press
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Task

NEAR, TWICE, FOUR_TIMES = 1.2, 2.0, 4.0
NOPE_REACH = 1.5  #: beyond it the published losses rise


@rule(stage="points", source="Press et al. 2022, arXiv:2108.12409, table 2; DAPE, arXiv:2405.14722, tables 5 and 6")
def train_short_test_long(facts: Facts) -> Iterator[Effect]:
    """When a new model is trained short and used long, encodings gain or lose by how they are known to hold out there.

    Measured on causal language models only, so in a model that sees both sides it counts half, and algorithms are left
    to their own rule.
    """
    if facts.existing is not None or facts.axes > 1 or facts.target <= facts.trained:
        return
    if facts.task is Task.ALGORITHMIC:
        return
    stretch = facts.stretch
    far = f"at {stretch:.3g} times the trained length"
    if not facts.causal:
        yield from _both_sides(facts, f"{far} in causal language models; encoders were not compared")
        return
    yield Score("alibi", 4, f"its perplexity stays flat {far}", press("alibi", stretch))
    yield Score("kerple", 3, f"it holds well {far}", KERPLE_LENGTHS)
    bucket = 3 if stretch <= TWICE else 1 if stretch <= FOUR_TIMES else -1
    yield Score(
        "t5",
        bucket,
        f"its last bucket {'still holds' if bucket > 0 else 'no longer holds'} {far}",
        press("t5", stretch),
    )
    yield Score("transformer_xl", 1, "its distances degrade slowly", TRANSFORMER_XL_LENGTHS)
    if stretch > NEAR:
        yield Score("rotary", -3, f"it degrades {far} unless it is extended", press("rotary", stretch))
    yield Score("sinusoidal", -4, f"it fails {far}", press("sinusoidal", stretch))
    if stretch > NOPE_REACH:
        yield Score("nope", -1, f"its losses rise {far}", NOPE_LENGTHS)


def _both_sides(facts: Facts, far: str) -> Iterator[Effect]:
    """The same for a model that sees both sides, in half the points. An extension ends somewhere, and does not serve
    input without end.
    """
    stretch = facts.stretch
    yield Score("alibi", 2, f"its perplexity stays flat {far}", press("alibi", stretch))
    if stretch <= TWICE:
        yield Score("t5", 1, f"its last bucket still holds {far}", press("t5", stretch))
    elif stretch > FOUR_TIMES:
        yield Score("t5", -1, f"its last bucket no longer holds {far}", press("t5", stretch))
    if stretch > NEAR:
        loss = 3 if facts.unlimited else 2
        yield Score("rotary", -loss, f"unless it is extended it degrades {far}", press("rotary", stretch))
    yield Score("sinusoidal", -2, f"it fails {far}", press("sinusoidal", stretch))
