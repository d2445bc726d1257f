"""vLLM: the names under which it finds kind, base and rotated share."""

from typing import Any

import pytest

from gnomon.resolving.stacks.vllm import VLLM
from tests.helpers.stack_readings import LLAMA, decided, known, layer, read

STACK = VLLM()


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize(
    ("block", "rule"),
    [
        ({"rope_type": "yarn", "type": "linear"}, None),
        ({"rope_type": "longrope", "type": "su"}, "longrope"),
        ({"type": "su"}, "longrope"),
        ({"rope_type": "default", "type": "mrope"}, "default"),
        ({"type": "mrope", "mrope_section": [2, 3, 3]}, "default"),
        ({"type": "mrope"}, None),
        ({"type": "cubic"}, None),
        ({"rope_type": "Llama3"}, None),
        ({"factor": 4.0}, "default"),
    ],
)
def test_spellings_of_the_kind(block: dict[str, Any], rule: str | None) -> None:
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "original_max_position_embeddings": 512}
    reading = read(STACK, scaled(**lists, **block))
    assert (layer(reading).rule if reading.serves else None) == rule
    assert reading.serves or "ValueError" in reading.refusal


def test_other_names_of_base_and_share_are_taken() -> None:
    reading = read(STACK, {**LLAMA, "rotary_emb_base": 5e5, "rotary_pct": 0.25})
    found = layer(reading)
    assert (found.base, found.rotary_dim) == (5e5, 32)
    assert decided(reading, "base") == "rotary_emb_base"
    assert layer(read(STACK, {**LLAMA, "rope_theta": 1e6, "rotary_emb_base": 5e5})).base == 1e6
    assert layer(read(STACK, {**LLAMA, "rotary_emb_fraction": 0.5})).rotary_dim == 64
    assert layer(read(STACK, {**LLAMA, "partial_rotary_factor": 0.5})).rotary_dim == 64


@pytest.mark.parametrize("share", [0.0, -0.5, 1.5])
def test_a_share_beyond_the_head_is_refused(share: float) -> None:
    assert "partial_rotary_factor" in read(STACK, {**LLAMA, "rotary_pct": share}).refusal


def test_rotated_width_is_taken_once_and_in_every_spelling() -> None:
    minimax = {"model_type": "minimax_m2", "hidden_size": 256, "num_attention_heads": 2, "head_dim": 128}
    assert layer(read(STACK, {**minimax, "rotary_dim": 64})).rotary_dim == 64
    assert layer(read(STACK, {**minimax, "partial_rotary_factor": 0.5})).rotary_dim == 64
    assert layer(read(STACK, known("gpt-j-6b"))).rotary_dim == 64
