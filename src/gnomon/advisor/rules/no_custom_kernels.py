"""Attention made of the framework's own operations."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit


@rule(stage="points", source="arithmetic: a bias as a mask of H T^2 numbers takes the plain path of attention")
def no_custom_kernels(facts: Facts) -> Iterator[Effect]:
    """Without kernels of its own a model builds learned biases as whole tensors; rotations are three operations."""
    if Limit.NO_CUSTOM_KERNELS in facts.limits and facts.existing is None:
        for encoding, loss in (("t5", 1), ("kerple", 1), ("transformer_xl", 2), ("alibi_grid", 1)):
            yield Score(encoding, -loss, "its bias must be built whole, and attention leaves the fast path")
