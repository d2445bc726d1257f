"""Caps of stacks that read transformers' config object: what its class adds counts as stated."""

import pytest
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from gnomon.resolving.given import Given
from gnomon.resolving.stack import registry


@pytest.mark.parametrize("stack", ["vllm", "sglang", "lmdeploy"])
@pytest.mark.parametrize("model_type", ["qwen2", "llama"])
def test_the_longest_length_of_the_class_stands_for_that_of_the_file(stack: str, model_type: str) -> None:
    sizes = {"hidden_size": 64, "num_attention_heads": 2}
    real = CONFIG_MAPPING[model_type](**sizes).max_position_embeddings
    assert real == {"qwen2": 32768, "llama": 2048}[model_type]

    def cap(**more: int) -> int | None:
        config = {"model_type": model_type, **sizes, **more}
        return registry.get(stack)().reading(Given("made", config=config)).cap

    assert cap() == real
    assert cap(max_position_embeddings=512) == 512
    assert cap(seq_length=256) == 256
