"""Biases of the size of the scores, at long lengths."""

from collections.abc import Iterator

from gnomon.advisor.arithmetic.memory import whole_bias
from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import arithmetic
from gnomon.advisor.rule import rule

LARGE = 2**30  #: bytes


@rule(
    stage="points", source="arithmetic: 4 H T^2 bytes; Press et al. 2022, table 2: T5's bias ran out of memory at 15512"
)
def bias_too_large(facts: Facts) -> Iterator[Effect]:
    """A learned bias loses two points when it would take more than a gibibyte at the target length, built whole."""
    size = whole_bias(facts.num_heads, facts.target)
    if facts.existing is None and size > LARGE:
        told = arithmetic(f"4 bytes x {facts.num_heads} heads x {facts.target}^2 = {size} bytes")
        for encoding in ("t5", "kerple", "alibi_grid"):
            yield Score(
                encoding, -2, f"its bias takes {size / 2**30:.1f} GiB unless a kernel makes it on the fly", told
            )
