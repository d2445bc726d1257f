"""vLLM: golden numbers of each kind of scaling."""

import math
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.stacks.vllm import VLLM
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    EXACT,
    LLAMA,
    PAIRS,
    ROUNDED,
    base_at,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK = VLLM()
OLD = "before-28244"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
NOMIC = {
    "model_type": "nomic_bert",
    "n_embd": 768,
    "n_head": 12,
    "num_attention_heads": 12,
    "hidden_size": 768,
    "max_position_embeddings": 2048,
    "max_trained_positions": 2048,
    "rotary_emb_base": 1000.0,
    "rope_scaling": {"rope_type": "dynamic", "factor": 2.0},
}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


def test_deepseek_has_a_yarn_of_its_own() -> None:
    found = layer(read(STACK, known("deepseek-v3")))
    assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert (found.rotary_dim, found.head_dim, found.layout, found.rule) == (64, 192, "interleaved", "yarn")
    assert magnitude(found) == 1.0
    assert found.softmax == pytest.approx(1.873854, abs=1e-6)
    assert layer(read(STACK, known("deepseek-v2-lite"))).softmax == pytest.approx(1.589626, abs=1e-6)


def test_deepseek_rounds_the_ends_and_takes_any_kind_for_yarn() -> None:
    config = known("deepseek-v3")
    block = {**config["rope_scaling"], "truncate": False}
    reading = read(STACK, {**config, "rope_scaling": block})
    assert ratios(layer(reading))[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert "rope_scaling.truncate" in reasons(reading)
    as_linear = read(STACK, {**config, "rope_scaling": {**block, "type": "linear"}})
    assert ratios(layer(as_linear)) == pytest.approx(ratios(layer(reading)))
    other = read(STACK, {**config, "rope_scaling": {**block, "mscale": 0.707, "mscale_all_dim": 0, "factor": 4}})
    assert magnitude(layer(other)) == pytest.approx(1.098011, abs=1e-6)
    assert layer(other).softmax == 1.0


def test_dynamic_stays_plain_now_and_was_a_constant_before_41277() -> None:
    config = scaled(rope_type="dynamic", factor=4.0)
    assert base_at(layer(read(STACK, config)), 8192) == pytest.approx(10000.0)
    for version in ("before-41277", OLD):
        found = layer(read(STACK, config, version))
        assert {round(base_at(found, length), 6) for length in (1, 2048, 8192)} == {135401.973042}


def test_dynamic_with_a_factor_of_2_was_off_on_short_prompts() -> None:
    config = scaled(rope_type="dynamic", factor=2.0)
    assert base_at(layer(read(STACK, config, "before-41277")), 1024) == pytest.approx(30527.7, abs=0.1)
    assert base_at(layer(read(STACK, config)), 1024) == pytest.approx(10000.0)


def test_nomics_base_follows_the_served_length_and_is_not_a_number_below_the_trained_one() -> None:
    found = layer(read(STACK, NOMIC))
    assert base_at(found, 100, 8192) == pytest.approx(7453.483032, abs=1e-5)
    assert base_at(found, 100, 2048) == pytest.approx(1000.0)
    assert np.isnan(found.schedule.at(100, 512).inverse).all()


def test_max_trained_positions_stretches_an_ordinary_model_too() -> None:
    found = layer(read(STACK, scaled(rope_type="dynamic", factor=4.0, max_trained_positions=1024)))
    assert base_at(found, 1) == pytest.approx(10000 * 5 ** (128 / 126))
    below = layer(read(STACK, scaled(rope_type="dynamic", factor=4.0, max_trained_positions=4096)))
    assert np.isnan(below.schedule.at(1, 1).inverse).all()


def test_alpha_wins_over_factor() -> None:
    assert base_at(layer(read(STACK, known("hunyuan-dense"))), 1) == pytest.approx(11158839.925, rel=1e-9)
    reading = read(STACK, scaled(rope_type="dynamic", alpha=2.5, factor=7.0))
    assert base_at(layer(reading), 9999) == pytest.approx(25366.2645, abs=1e-3)
    assert reasons(reading)["rope_scaling.factor"] == "alpha wins"


def test_ntk_is_a_larger_base_and_one_divisor() -> None:
    found = ratios(layer(read(STACK, scaled(rope_type="ntk", factor=4.0))))
    assert [found[0], found[-1]] == pytest.approx([0.978572, 0.25], abs=1e-6)
    mixed = ratios(layer(read(STACK, scaled(rope_type="ntk", factor=4.0, mixed_b=0.625))))
    assert [mixed[0], mixed[-1]] == pytest.approx([math.exp(-math.log(4) / 64**0.625), 0.25])


def test_telechat_has_a_magnitude_of_its_own() -> None:
    block = {**YARN, "rope_type": "telechat3-yarn"}
    assert magnitude(layer(read(STACK, scaled(**block)))) == pytest.approx(1.097041, abs=1e-6)


@pytest.mark.parametrize(("served", "short"), [(4096, True), (4097, False), (131072, False)])
def test_longrope_takes_one_list_for_the_whole_server(served: int, short: bool) -> None:
    config = known("phi-3-mini-128k")
    reading = read(STACK, config, served=served)
    found = layer(reading)
    wanted = config["rope_scaling"]["short_factor" if short else "long_factor"]
    assert 1 / ratios(found, 10, served) == pytest.approx(wanted)
    assert magnitude(found, 10, served) == pytest.approx(1.190238, abs=1e-6)
    assert reading.cap == 4096


def test_longrope_magnitudes_can_be_given_for_each_list() -> None:
    config = known("phi-3-mini-128k")
    block = {**config["rope_scaling"], "short_mscale": 1.5, "long_mscale": 2.5, "attention_factor": 9.0}
    reading = read(STACK, {**config, "rope_scaling": block})
    assert (magnitude(layer(reading), 1, 4096), magnitude(layer(reading), 1, 8192)) == (1.5, 2.5)
    assert "rope_scaling.attention_factor" in reasons(reading)


def test_longrope_ends_for_neighbouring_columns() -> None:
    lists = {"short_factor": [1.0] * 32, "long_factor": [2.0] * 32, "original_max_position_embeddings": 512}
    config = {**known("glm-4-9b"), "rope_scaling": {"rope_type": "longrope", **lists}}
    assert "half layout only" in read(STACK, config).refusal


def test_llama3_bands() -> None:
    found = ratios(layer(read(STACK, known("llama-3.1-8b"))))
    assert (int(np.sum(np.isclose(found, 1))), int(np.sum(np.isclose(found, 0.125)))) == (29, 29)
    assert found[29:35] == pytest.approx([0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211], abs=1e-6)
    scout = read(STACK, known("llama-4-scout"))
    turning = ratios(layer(scout, "layers with rotation"))
    assert (int(np.sum(np.isclose(turning, 1))), int(np.sum(np.isclose(turning, 1 / 16)))) == (35, 29)
    temperature = layer(scout, "layers without rotation").temperature
    assert temperature is not None
    assert [temperature.at(p) for p in (8190, 8191, 65535)] == pytest.approx([1, 1.069315, 1.219722], abs=1e-6)


@pytest.mark.parametrize("missing", ["low_freq_factor", "high_freq_factor", "factor"])
def test_llama3_needs_its_keys(missing: str) -> None:
    config = known("llama-3.1-8b")
    block = {key: value for key, value in config["rope_scaling"].items() if key != missing}
    assert read(STACK, {**config, "rope_scaling": block}).refusal


def test_proportional_frequencies_have_no_factor() -> None:
    config = known("gemma-4-text")
    block = {**config["rope_parameters"]["full_attention"], "factor": 8.0}
    parameters = {**config["rope_parameters"], "full_attention": block}
    reading = read(STACK, {**config, "rope_parameters": parameters})
    found = layer(reading, "full_attention").schedule.at(1, 1).inverse
    assert (int(np.sum(found > 0)), len(found)) == (64, 256)
    assert found[63] == pytest.approx(0.0333762469, rel=1e-8)
    assert reasons(reading)["rope_parameters.full_attention.factor"] == "proportional frequencies are not divided"


def test_gemma_3_scales_its_full_layers_alone_and_keeps_its_cap() -> None:
    reading = read(STACK, known("gemma-3-4b"))
    assert ratios(layer(reading, "full_attention")) == pytest.approx(np.full(128, 0.125))
    sliding = layer(reading, "sliding_attention")
    assert (sliding.base, ratios(sliding)[-1], reading.cap) == (10000.0, 1.0, 131072)


def test_ministrals_temperature_is_looked_for_beside_the_block() -> None:
    config = known("ministral-3")
    reading = read(STACK, config)
    assert layer(reading).temperature is None
    assert "beside the block" in reasons(reading)["rope_parameters.llama_4_scaling_beta"]
    beside = {"beta": 0.1, "original_max_position_embeddings": 16384}
    temperature = layer(read(STACK, {**config, "llama_4_scaling": beside})).temperature
    assert temperature is not None
    assert [temperature.at(p) for p in (16383, 16384, 262143)] == pytest.approx([1, 1.069315, 1.277259], abs=1e-6)


def test_proportional_frequencies_came_with_transformers_5() -> None:
    config = scaled(rope_type="proportional", partial_rotary_factor=0.5)
    assert layer(read(STACK, config, "before-41277")).rule == "proportional"
    assert "ValueError" in read(STACK, config, OLD).refusal


def test_xdrope_needs_alpha_and_sections() -> None:
    whole = {"rope_type": "xdrope", "alpha": 1000.0, "xdrope_section": [16, 16, 16, 16]}
    assert base_at(layer(read(STACK, scaled(**whole))), 1) == pytest.approx(11158839.925, rel=1e-9)
    for missing in ("alpha", "xdrope_section"):
        block = {key: value for key, value in whole.items() if key != missing}
        assert read(STACK, scaled(**block)).refusal == f"KeyError: {missing!r}"


def test_rounded_and_exact_are_not_mixed_up() -> None:
    assert ROUNDED != EXACT
    config = known("qwen3-8b-yarn")
    block = {**config["rope_scaling"], "truncate": False}
    found = ratios(layer(read(STACK, {**config, "rope_scaling": block})))
    assert found[list(PAIRS)] == pytest.approx(EXACT, abs=1e-6)
