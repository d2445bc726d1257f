"""Configs that state their rotation twice: equal statements are one, different ones are refused by both values."""

from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from tests.helpers.rotary_folders import tiny

ORIGINAL = "original_max_position_embeddings"
YARN = {"rope_type": "yarn", "factor": 2.0, ORIGINAL: 64}
LISTS = {"short_factor": [1.0] * 8, "long_factor": [2.0] * 8}
LONGROPE = {"rope_type": "longrope", "factor": 2.0, ORIGINAL: 64, **LISTS}


def _two(first: dict[str, Any], second: dict[str, Any], **more: Any) -> dict[str, Any]:
    return tiny("llama", max_position_embeddings=128, rope_scaling=first, rope_parameters=second) | more


DIFFERENT = [
    (_two(YARN, {**YARN, ORIGINAL: 128}), f"rope_scaling with {ORIGINAL} 64, rope_parameters with {ORIGINAL} 128"),
    (_two(YARN, {"rope_type": "yarn", "factor": 2.0}), f"with {ORIGINAL} 64, rope_parameters with {ORIGINAL} 128"),
    (_two(YARN, {**YARN, "beta_fast": 16}), "rope_scaling with beta_fast 32, rope_parameters with beta_fast 16"),
    (_two({**YARN, "beta_slow": 2}, YARN), "rope_scaling with beta_slow 2, rope_parameters with beta_slow 1"),
    (_two({**YARN, "truncate": False}, YARN), "with truncate False, rope_parameters with truncate True"),
    (_two({**YARN, "mscale": 0.7}, {**YARN, "mscale": 1.0}), "with mscale 0.7, rope_parameters with mscale 1.0"),
    (_two({**YARN, "attention_factor": 1.0}, YARN), "with attention_factor 1.0, rope_parameters with attention_factor"),
    (_two(LONGROPE, {**LONGROPE, "long_factor": [3.0] * 8}), "with long_factor [2.0, 2.0"),
    (_two({**YARN, "rope_theta": 1e4}, {**YARN, "rope_theta": 5e5}), "with rope_theta 10000, rope_parameters with"),
    (_two(YARN, {**YARN, "factor": 4.0}), "rope_scaling yarn by 2.0, rope_parameters yarn by 4.0"),
    (
        tiny("llama", rope_theta=5e5, rope_parameters={"rope_type": "default", "rope_theta": 1e4}),
        "two bases: rope_theta 500000 beside rope_parameters with rope_theta 10000",
    ),
    (
        tiny("gpt_neox", rotary_emb_base=5e5, rope_parameters={"rope_type": "default", "rope_theta": 1e4}),
        "two bases: rotary_emb_base 500000 beside rope_parameters with rope_theta 10000",
    ),
    (
        tiny(
            "gemma3_text",
            head_dim=16,
            rope_local_base_freq=5e5,
            rope_parameters={"sliding_attention": {"rope_type": "default", "rope_theta": 1e4}},
        ),
        "rope_local_base_freq 500000 beside rope_parameters.sliding_attention with rope_theta 10000",
    ),
]


@pytest.mark.parametrize(("config", "said"), DIFFERENT)
def test_two_statements_that_differ_are_refused_with_both(config: dict[str, Any], said: str) -> None:
    with pytest.raises(GnomonError) as error:
        read_rotary(config)
    assert said in str(error.value)
    assert "that the weights were trained with" in str(error.value)


SAME = [
    _two(YARN, {**YARN, "beta_fast": 32.0, "rope_theta": 1e4}, rope_theta=1e4),
    _two({**YARN, ORIGINAL: None}, YARN, **{ORIGINAL: 64}),
    _two({"type": "su", **LISTS}, {"rope_type": "longrope", **LISTS, ORIGINAL: 64}, **{ORIGINAL: 64}),
    _two({"type": "linear", "factor": 2.0}, {"rope_type": "linear", "factor": 2, "rope_theta": 1e4}),
]


@pytest.mark.parametrize("config", SAME)
def test_one_statement_in_two_spellings_is_one(config: dict[str, Any]) -> None:
    rotary = read_rotary(config)
    assert rotary is not None
    assert lengths_of(rotary, 1024, 64).original == 64
