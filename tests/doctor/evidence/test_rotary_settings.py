"""Rotary settings under every name."""

from typing import Any

import pytest

from gnomon.doctor.evidence.rotary_settings import rotary_settings

KINDS = {"rope_parameters": {"full_attention": {"rope_theta": 3.0}, "sliding_attention": {"rope_theta": 4.0}}}
SIZES = {"hidden_size": 64, "num_attention_heads": 4}


@pytest.mark.parametrize(
    ("config", "kind", "base", "key"),
    [
        ({"rope_theta": 5.0}, "", 5.0, "rope_theta"),
        ({"rotary_emb_base": 5.0}, "", 5.0, "rotary_emb_base"),
        ({"rope_theta": 5.0, "rope_parameters": {"rope_theta": 7.0}}, "", 7.0, "rope_parameters.rope_theta"),
        ({"rope_scaling": {"type": "linear", "rope_theta": 7.0}}, "", 7.0, "rope_scaling.rope_theta"),
        ({"rope_theta": 9.0, "rope_local_base_freq": 5.0}, "sliding_attention", 5.0, "rope_local_base_freq"),
        ({"rope_theta": 9.0}, "sliding_attention", 9.0, "rope_theta"),
        (KINDS, "", 3.0, "rope_parameters.full_attention.rope_theta"),
        (KINDS, "sliding_attention", 4.0, "rope_parameters.sliding_attention.rope_theta"),
        ({**KINDS, "rope_theta": 5.0}, "", 5.0, "rope_theta"),
        ({"model_type": "smollm3"}, "", 2e6, "the default, for no key states it"),
        ({}, "", 1e4, "the default, for no key states it"),
        ({"text_config": {"rope_theta": 3.0}, "rope_theta": 4.0}, "", 3.0, "rope_theta"),
    ],
)
def test_a_base_is_found_with_its_key(config: dict[str, Any], kind: str, base: float, key: str) -> None:
    found = rotary_settings(config).base(kind)
    assert found is not None
    assert (found.value, found.key) == (base, key)


@pytest.mark.parametrize(
    ("config", "lanes"),
    [
        ({}, 16),
        ({"rotary_dim": 6}, 6),
        ({"rotary_pct": 0.25}, 4),
        ({"rope_parameters": {"partial_rotary_factor": 0.5}}, 8),
        ({"model_type": "gpt_neox"}, 4),
        ({"qk_rope_head_dim": 12}, 12),
        ({"head_dim": 32, "partial_rotary_factor": 0.5}, 16),
    ],
)
def test_rotated_lanes_are_counted(config: dict[str, Any], lanes: int) -> None:
    found = rotary_settings({**SIZES, **config}).lanes
    assert found is not None
    assert found.value == lanes


def test_without_a_width_there_are_no_lanes() -> None:
    assert rotary_settings({"rotary_pct": 0.25}).lanes is None


@pytest.mark.parametrize("kind", ["default", "mrope", "axial"])
def test_blocks_that_scale_nothing_are_no_scaling(kind: str) -> None:
    assert not rotary_settings({"rope_scaling": {"rope_type": kind}}).scalings


def test_the_scaling_of_full_layers_stands_for_the_model_where_kinds_are_told_apart() -> None:
    kinds = {"full_attention": {"rope_type": "linear", "factor": 2.0}, "sliding_attention": {"rope_type": "default"}}
    settings = rotary_settings({"rope_parameters": kinds})
    assert [getattr(settings.scaling(kind), "rule", None) for kind in ("", "full_attention", "sliding_attention")] == [
        *("linear", "linear", None)
    ]
