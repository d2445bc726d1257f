"""Angles in half precision."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule

EXACT = {"bfloat16": 256, "float16": 2048}  #: whole numbers up to here have a value of their own
ROTATIONS = ("rotary", "mrope", "axial_rotary")


@rule(stage="risks", source="Wang et al. 2024, arXiv:2411.13476; arithmetic: 8 bits of a significand count to 256")
def risk_rotation_precision(facts: Facts) -> Iterator[Effect]:
    """In half precision positions and angles must stay in float32: ids are exact to 256 in bfloat16 and 2048 in
    float16.
    """
    exact = EXACT.get(facts.dtype)
    if exact is not None and facts.target > exact:
        for encoding in ROTATIONS:
            yield Expect(
                encoding, f"position ids or angles in {facts.dtype}, which counts exactly to {exact} only", "PE301"
            )
            yield Expect(encoding, "a cast of the model rounds its frequencies", "PE601")
