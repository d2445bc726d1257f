"""How rotations go wrong in code."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(stage="risks", source="Su et al. 2021, arXiv:2104.09864, equation 34: pairs of columns, each with its angle")
def risk_rotation_in_code(facts: Facts) -> Iterator[Effect]:
    """A new rotation pairs columns one way, and code, kernels and converters must agree on it and on where decoding
    is.
    """
    if facts.existing is None:
        yield Expect("rotary", "lanes are paired another way than in training", "PE312")
        if facts.causal:
            yield Expect("rotary", "decoding through the cache counts positions from another start", "PE403")
