"""Longer contexts without training."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import INTERPOLATED_AT_ONCE, NEEDLES_AT_ONCE, YARN_AT_ONCE
from gnomon.advisor.rule import rule

SMALL = 4.0  #: factors up to which a larger base alone serves


@rule(
    stage="points",
    source="Chen et al. 2023, arXiv:2306.15595, table 3 at step 0; DaRoPE, Levy et al. 2026; DroPE, arXiv:2512.12167",
)
def extension_without_tuning(facts: Facts) -> Iterator[Effect]:
    """A plain rotary checkpoint that may not be trained further is extended by YaRN, or for small factors by a larger
    base; plain interpolation needs training.
    """
    if facts.rotary_kind == "plain" and facts.turns and facts.target > facts.trained and not facts.fine_tune:
        near = facts.stretch <= SMALL
        yield Score("yarn", 4, "it works at once, and leaves fast pairs as they were trained", YARN_AT_ONCE)
        yield Score("ntk", 3 if near else 1, "it works at once, less well for large factors", NEEDLES_AT_ONCE)
        if near:
            yield Step("yarn", "try ntk beside it, and compare retrieval: at small factors either may find more")
        else:
            said = f"at {facts.stretch:.3g} times the length without training nothing matched is published"
            yield Step("yarn", f"{said}: measure retrieval at {facts.target} tokens before it is used")
        yield Score("linear", -2, "it works only after fine-tuning", INTERPOLATED_AT_ONCE)
