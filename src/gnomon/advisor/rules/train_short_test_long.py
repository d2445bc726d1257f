"""New models that must serve longer inputs than they are trained on."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import KERPLE_LENGTHS, NOPE_LENGTHS, TRANSFORMER_XL_LENGTHS, press
from gnomon.advisor.rule import rule

NEAR, TWICE, FOUR_TIMES = 1.2, 2.0, 4.0
NOPE_REACH = 1.5  #: beyond it the published losses rise


@rule(stage="points", source="Press et al. 2022, arXiv:2108.12409, table 2; DAPE, arXiv:2405.14722, tables 5 and 6")
def train_short_test_long(facts: Facts) -> Iterator[Effect]:
    """When a new model is trained short and used long, encodings gain or lose by how they are known to hold out there.

    Measured on causal language models only, so ALiBi gains a point less in a model that sees both sides.
    """
    if facts.existing is not None or facts.axes > 1 or facts.target <= facts.trained:
        return
    stretch = facts.stretch
    far = f"at {stretch:.3g} times the trained length"
    yield Score("alibi", 4 if facts.causal else 3, f"its perplexity stays flat {far}", press("alibi", stretch))
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
