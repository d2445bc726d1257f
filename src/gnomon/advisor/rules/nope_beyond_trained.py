"""Checkpoints without an encoding, beyond their length."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Score, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.published import NOPE_LENGTHS
from gnomon.advisor.rule import rule


@rule(stage="points", source="Kazemnejad et al. 2023, arXiv:2305.19466; DroPE, Gelberg et al. 2025, arXiv:2512.12167")
def nope_beyond_trained(facts: Facts) -> Iterator[Effect]:
    """A checkpoint without an encoding has nothing to extend: it reaches about half as far again, then its logits need
    a temperature that grows with the logarithm of the factor.
    """
    if facts.existing == "nope" and facts.target > facts.trained:
        yield Score("keep", 1, "there is no encoding to extend", NOPE_LENGTHS)
        yield Step("keep", "tune a temperature 1 + c ln s of the logits at the longer length, as DroPE does")
