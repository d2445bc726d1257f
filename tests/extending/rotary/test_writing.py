"""The written config, read back by the real classes of transformers, and by readers of single spellings."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from gnomon.encodings.frequencies import Frequencies, LongRoPE, NTKAware, Plain
from gnomon.errors import GnomonError
from gnomon.extending.plan import with_edits
from gnomon.extending.rotary.composing import composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from gnomon.extending.rotary.writing import rotary_plan
from tests.helpers.rotary_folders import real_frequencies, tiny

ORIGINAL = "original_max_position_embeddings"
FLOAT32 = 2e-6
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, ORIGINAL: 16}


def extended(config: Mapping[str, Any], to: int, method: str = "auto") -> tuple[dict[str, Any], Frequencies | None]:
    """The new config, and the rule of the layers that were scaled."""
    rotary = read_rotary(config)
    assert rotary is not None
    made = composed(rotary, lengths_of(rotary, to), method)
    rule = next((s.frequencies(made.lengths.original) for _, s in made.layers if s is not None), None)
    return with_edits(config, rotary_plan(rotary, made).config), rule


def _v5(config: dict[str, Any], block: dict[str, Any]) -> dict[str, Any]:
    """As transformers 5 writes it: one block, and nothing of it at the top."""
    return {key: value for key, value in config.items() if not key.startswith("rope_")} | {"rope_parameters": block}


PLAIN = tiny("llama", rope_theta=5e5)
YARN = {"factor": 4.0, ORIGINAL: 64, "rope_theta": 5e5}
CASES = {
    "plain by linear": (PLAIN, 256, "linear"),
    "plain by ntk": (PLAIN, 256, "ntk"),
    "plain by yarn": (PLAIN, 256, "yarn"),
    "plain by longrope": (PLAIN, 256, "longrope"),
    "plain by dynamic": (PLAIN, 256, "dynamic"),
    "base of the class": (tiny("llama"), 256, "yarn"),
    "base of another class": (tiny("mixtral"), 256, "yarn"),
    "yarn of version 4": ({**PLAIN, "rope_scaling": {"type": "yarn", "factor": 4.0, ORIGINAL: 64}}, 1024, "auto"),
    "yarn of version 5": (_v5(PLAIN, {"rope_type": "yarn", **YARN}), 1024, "auto"),
    "yarn that says itself twice": (_v5(PLAIN, {"rope_type": "yarn", "type": "yarn", **YARN}), 1024, "auto"),
    "llama3 of version 4": ({**PLAIN, "rope_scaling": LLAMA3}, 256, "auto"),
    "llama3 of version 5": (_v5(PLAIN, {**LLAMA3, "rope_theta": 5e5}), 256, "auto"),
    "a part of the head, old names": (tiny("gpt_neox", rotary_pct=0.5, rotary_emb_base=2e4), 256, "yarn"),
    "a part of the head, as 5 saves it": (
        _v5(tiny("gpt_neox"), {"rope_type": "default", "rope_theta": 2e4, "partial_rotary_factor": 0.5}),
        256,
        "yarn",
    ),
    "a part of the head, other base": (tiny("gpt_neox", rotary_pct=0.5, rotary_emb_base=2e4), 256, "ntk"),
    "a base under an old name alone": (tiny("gpt_neox_japanese"), 256, "ntk"),
    "a class without a width of its head": (tiny("ministral", layer_types=["full_attention"] * 2), 256, "ntk"),
    "a part of the head of GLM": (tiny("glm4", head_dim=16, partial_rotary_factor=0.5, rope_theta=1e4), 256, "yarn"),
    "Phi-3": (tiny("phi3", rope_theta=1e4, **{ORIGINAL: 64}), 256, "auto"),
    "Phi-3 with lists": (
        tiny(
            "phi3",
            **{"max_position_embeddings": 256, ORIGINAL: 64, "partial_rotary_factor": 0.75},
            rope_scaling={"type": "su", "short_factor": [1.0] * 6, "long_factor": [1.0, 2.0, 3.0, 4.0, 4.0, 4.0]},
        ),
        512,
        "auto",
    ),
    "sections of Qwen2-VL": (
        tiny("qwen2_vl_text", rope_theta=1e6, rope_scaling={"type": "mrope", "mrope_section": [2, 3, 3]}),
        256,
        "yarn",
    ),
    "gpt-oss by its defaults": (
        tiny("gpt_oss", head_dim=16, rope_theta=15e4) | {"max_position_embeddings": 131072, "num_local_experts": 2},
        262144,
        "auto",
    ),
    "DeepSeek": (
        tiny(
            "deepseek_v3",
            q_lora_rank=None,
            kv_lora_rank=16,
            qk_rope_head_dim=16,
            qk_nope_head_dim=8,
            v_head_dim=8,
            n_routed_experts=4,
            n_group=1,
            topk_group=1,
            num_experts_per_tok=1,
            moe_intermediate_size=8,
            rope_theta=1e4,
            max_position_embeddings=256,
            rope_scaling={"type": "yarn", "factor": 4.0, ORIGINAL: 64, "mscale": 0.7, "mscale_all_dim": 0.5},
        ),
        512,
        "auto",
    ),
}


def _wanted(rule: Frequencies, config: Mapping[str, Any], length: int) -> tuple[Any, float]:
    """The rule's numbers at a length; float64. The block says how wide the rotation is."""
    at = rule.at_length(length)
    rotary = read_rotary(config)
    assert rotary is not None
    return at.inverse(rotary.held[0].rotary_dim), at.attention_factor


@pytest.mark.parametrize("name", CASES)
def test_the_real_class_turns_as_the_composed_rule_says(name: str) -> None:
    config, to, method = CASES[name]
    made, rule = extended(config, to, method)
    assert rule is not None
    for length in (60, 250):
        found, magnitude = real_frequencies(made, length)
        wanted, attention = _wanted(rule, made, length)
        np.testing.assert_allclose(found, wanted, rtol=FLOAT32)
        assert magnitude == pytest.approx(attention, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_each_spelling_alone_is_the_same_model(name: str) -> None:
    config, to, method = CASES[name]
    made, _ = extended(config, to, method)
    blocks = [key for key in ("rope_scaling", "rope_parameters") if isinstance(made.get(key), Mapping)]
    both = real_frequencies(made, 60)
    for left_out in blocks if len(blocks) == 2 else ():
        alone = real_frequencies({key: value for key, value in made.items() if key != left_out}, 60)
        np.testing.assert_array_equal(alone[0], both[0])
        assert alone[1] == both[1]
    assert all(made[key]["rope_theta"] == made["rope_theta"] for key in blocks)
    assert all(not {"type", "rope_type"} <= made[key].keys() for key in blocks if method != "ntk")


GEMMA = tiny("gemma3_text", head_dim=16, sliding_window=8, num_hidden_layers=6)
LINEAR = {"rope_type": "linear", "factor": 8.0}
GEMMA_4 = GEMMA | {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope_scaling": LINEAR}
GEMMA_5 = GEMMA | {
    "rope_parameters": {
        "full_attention": {**LINEAR, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
}


@pytest.mark.parametrize("config", [GEMMA_4, GEMMA_5])
def test_gemma_3_in_either_form_is_written_in_both(config: dict[str, Any]) -> None:
    made, rule = extended(config, 256)
    assert rule is not None
    flat = {key: value for key, value in made.items() if key != "rope_parameters"}
    nested = {key: value for key, value in made.items() if key not in ("rope_scaling", "rope_theta")}
    for form in (made, flat, nested):
        full, _ = real_frequencies(form, 60, "full_attention")
        sliding, _ = real_frequencies(form, 60, "sliding_attention")
        np.testing.assert_allclose(full, Plain(1e6).inverse(16) / 32, rtol=FLOAT32)
        np.testing.assert_allclose(sliding, Plain(1e4).inverse(16), rtol=FLOAT32)
    assert made["max_position_embeddings"] == 256


def test_a_config_with_an_image_tower_is_changed_in_its_language_model() -> None:
    made, _ = extended({"model_type": "gemma3", "text_config": GEMMA_4, "vision_config": {"hidden_size": 8}}, 256)
    assert made["text_config"] == extended(GEMMA_4, 256)[0]
    assert made["vision_config"] == {"hidden_size": 8}
    assert set(made) == {"model_type", "text_config", "vision_config"}


def test_modernbert_gets_a_block_for_each_kind_and_its_old_names() -> None:
    config = tiny("modernbert", global_rope_theta=16e4, local_rope_theta=1e4, local_attention=8, head_dim=16)
    made, _ = extended(config, 256, "ntk")
    base = NTKAware(4.0, 16e4).larger_base(16)
    assert made["global_rope_theta"] == pytest.approx(base)
    assert made["local_rope_theta"] == 1e4
    assert "rope_scaling" not in made  # transformers 5 would lay it over both kinds
    full, _ = real_frequencies(made, 60, "full_attention")
    np.testing.assert_allclose(full, Plain(base).inverse(16), rtol=FLOAT32)


def test_keys_of_the_file_stay_in_their_order_and_nothing_else_changes() -> None:
    config = {"first": 1, **PLAIN, "last": {"x": [1]}}
    made, _ = extended(config, 256)
    assert list(made)[: len(config)] == list(config)
    assert list(made)[len(config) :] == ["rope_scaling", "rope_parameters"]
    changed = {key for key in config if made[key] != config[key]}
    assert changed == {"max_position_embeddings"}


def test_the_original_length_stands_beside_the_block_only_where_the_family_declares_it() -> None:
    assert ORIGINAL not in extended(PLAIN, 256, "yarn")[0]
    made, _ = extended(tiny("phi3"), 256)
    assert made[ORIGINAL] == made["rope_scaling"][ORIGINAL] == 64
    assert extended({**PLAIN, "max_sequence_length": 64}, 256)[0]["max_sequence_length"] == 256


def test_a_length_inside_the_block_follows() -> None:
    block = {"type": "yarn", "rope_type": "yarn", **YARN, "max_position_embeddings": 256}
    made, _ = extended(_v5(tiny("ministral3", max_position_embeddings=256), block), 512)
    assert made["rope_parameters"]["max_position_embeddings"] == made["max_position_embeddings"] == 512


def test_lists_are_written_as_numbers_that_json_has() -> None:
    made, rule = extended(PLAIN, 256, "longrope")
    assert isinstance(rule, LongRoPE)
    assert all(type(value) is float for value in made["rope_scaling"]["long_factor"])


def test_a_scaling_for_all_kinds_beside_bases_of_their_own_is_refused() -> None:
    config = tiny("modernbert", global_rope_theta=16e4, local_rope_theta=1e4, local_attention=8, head_dim=16)
    with pytest.raises(GnomonError, match="move it into rope_parameters, to the kinds that it is for"):
        extended({**config, "rope_scaling": {"rope_type": "default"}}, 256, "ntk")
