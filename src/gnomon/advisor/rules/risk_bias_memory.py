"""Biases that are made whole."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks", source="arithmetic: H T^2 numbers; a layer that keeps them, or a row of the batch, multiplies them"
)
def risk_bias_memory(facts: Facts) -> Iterator[Effect]:
    """A bias is made once for all layers and rows, and only for the length in use."""
    for encoding in ("alibi", "t5", "kerple", "alibi_grid"):
        yield Expect(encoding, "each layer keeps a bias of the size of the scores, or makes it for each row", "PE612")
