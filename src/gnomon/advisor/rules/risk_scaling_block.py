"""Scaling blocks of configs."""

from collections.abc import Iterator

from gnomon.advisor.effects import Effect, Expect
from gnomon.advisor.facts import Facts
from gnomon.advisor.rule import rule


@rule(
    stage="risks", source="sources of transformers 4.50 to 4.56, onnxruntime-genai, DeepSpeed and ollama, summer 2026"
)
def risk_scaling_block(facts: Facts) -> Iterator[Effect]:
    """An extended checkpoint is described by a block of its config, which programs read in different ways."""
    if not facts.turns or facts.target <= facts.trained:
        return
    for name in ("yarn", "linear", "ntk", "rescale"):
        yield Expect(name, "the block lacks a key, or its factor and the ratio of lengths differ", "PE102")
        yield Expect(name, "a serving program drops the scaling and rotates plainly, without a word", "PE307")
    readers = (
        "onnxruntime-genai reads YaRN only where beta_fast is given; DeepSpeed FastGen and the MLX runner "
        "of ollama read no"
    )
    yield Expect("yarn", f"{readers} scaling (as of summer 2026)", "PE307")
    yield Expect("rescale", "a second scaling replaces the first, or the factors do not compose", "PE109")
    yield Expect("yarn", "the logits are not multiplied by the square of the attention factor, or twice", "PE314")
