"""GGUF metadata in Hugging Face's words: the keys that say how positions are scaled."""

from typing import Any

import pytest

from gnomon.adapters.gguf.config import gguf_config

LLAMA = {"general.architecture": "llama", "llama.context_length": 8192, "llama.rope.dimension_count": 64}
YARN = {
    "llama.rope.scaling.type": "yarn",
    "llama.rope.scaling.factor": 4.0,
    "llama.rope.scaling.original_context_length": 2048,
}


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("yarn_ext_factor", "extrapolation_factor"),
        ("yarn_attn_factor", "attn_factor"),
        ("attn_factor", "attn_factor"),
        ("yarn_beta_fast", "beta_fast"),
    ],
)
def test_numbers_of_yarn_are_kept_under_the_names_that_checks_read(key: str, name: str) -> None:
    block: dict[str, Any] = gguf_config({**LLAMA, **YARN, f"llama.rope.scaling.{key}": 0.5}).config["rope_scaling"]
    assert block == {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048, name: 0.5}


def test_the_rotated_width_is_in_the_config_and_in_the_claims() -> None:
    read = gguf_config({**LLAMA, "llama.embedding_length": 256, "llama.attention.head_count": 2})
    [claim] = read.claims()
    assert (read.config["rotary_dim"], claim.options["rotary_dim"], claim.options["head_dim"]) == (64, 64, 128)
    assert claim.keys["rotary_dim"] == "llama.rope.dimension_count"


def test_a_base_that_is_not_stated_is_not_made_up() -> None:
    assert "rope_theta" not in gguf_config(LLAMA).config
