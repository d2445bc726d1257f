"""Export to ONNX."""

from collections.abc import Iterator

from gnomon.advisor.effects import ALL, Effect, Expect, Step
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule
from gnomon.advisor.task import Limit


@rule(stage="risks", source="ONNX operator RotaryEmbedding, opset 23; complex numbers have no ONNX type in exporters")
def risk_export(facts: Facts) -> Iterator[Effect]:
    """An exported model must run at more lengths than the one it was traced at, and rotations must not be complex."""
    if Limit.ONNX in facts.limits:
        yield Expect(ALL, "the graph has the length it was traced at built in", "PE613")
        yield Expect(ALL, "the graph differs from the model at another length", "PE614")
        yield Expect("rotary", "rotation by complex numbers cannot be exported", "PE607")
        yield Step(
            "rotary", "write the rotation with cosines and sines, or as the operator RotaryEmbedding of opset 23"
        )
