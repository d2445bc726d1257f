"""The span of random ids."""

from collections.abc import Iterator

from gnomon.advisor.effects import Build, Effect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="options", source="Ruoss et al. 2023, arXiv:2305.16843, section 3.2: ids from a span beyond the longest input"
)
def options_randomized(facts: Facts) -> Iterator[Effect]:
    """Random ids come from a span of twice the target, over a learned table of that many rows."""
    span = 2 * facts.target
    inner = {"encoding": "learned", "max_length": span, "dim": facts.dim}
    yield Build("randomized", {"inner": inner, "max_length": facts.target, "span": span}, {"span": span})
    yield Step(
        "randomized",
        "call redraw(seed, length of the batch) before each training step, and in use once for each sequence",
    )
