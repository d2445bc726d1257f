"""mlx-lm: raw fields by model file, `type` first, ends always rounded, the long list always, positions that double."""

import math
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import STILL, TURNING, Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.mlx_lm import MlxLm
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    G4,
    G64,
    GPT_OSS_PAIRS,
    GPT_OSS_ROUNDED,
    LLAMA,
    PAIRS,
    ROUNDED,
    base_at,
    decided,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK, REFERENCE = MlxLm(), TransformersFive()
ORIGINAL = "original_max_position_embeddings"


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_ends_as_it_should(entry: Entry) -> None:
    reading = STACK.reading(entry.given)
    ends = {
        "gpt-j-6b": "no model file",
        "falcon-7b": "no model file",
        "minicpm4-8b": "KeyError: 'type'",
        "qwen3-8b-saved-by-v5": "TypeError",
    }
    if entry.name in ends:
        assert ends[entry.name] in reading.absent + reading.refusal
    else:
        assert reading.serves, reading.refusal + reading.absent
        assert reading.cap is None


@pytest.mark.parametrize(
    ("name", "factor"),
    [
        ("qwen2.5-7b-yarn", G4),
        ("qwen3-8b-attention-factor", G4),
        ("qwen3-8b-mscale", 1.098011),
        ("qwen3-8b-mscale-pair", 1.0),
    ],
)
def test_the_factor_of_yarn_is_always_the_ratio(name: str, factor: float) -> None:
    found = layer(read(STACK, known(name)))
    assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(found) == pytest.approx(factor, abs=1e-6)


def test_an_explicit_attention_factor_is_not_in_the_list_of_keys() -> None:
    """ml-explore/mlx-lm#1507: factor 64 with attention_factor 1 gives 1.4158883 instead of 1."""
    config = scaled(rope_type="yarn", factor=64.0, attention_factor=1.0, **{ORIGINAL: 4096})
    assert magnitude(layer(read(STACK, config))) == pytest.approx(G64, abs=1e-6)
    assert magnitude(layer(read(REFERENCE, config))) == 1
    assert reasons(read(STACK, config))["rope_scaling.attention_factor"] == "not read"


@pytest.mark.parametrize(
    ("name", "pairs", "expected"),
    [("gpt-oss-20b", GPT_OSS_PAIRS, GPT_OSS_ROUNDED), ("deepseek-v3", DEEPSEEK_PAIRS, DEEPSEEK_ROUNDED)],
)
def test_the_ends_of_the_ramp_are_always_rounded(name: str, pairs: Any, expected: Any) -> None:
    assert ratios(layer(read(STACK, known(name))))[list(pairs)] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(("name", "softmax"), [("deepseek-v3", 1.873854), ("deepseek-v2-lite", 1.589626)])
def test_deepseeks_softmax_is_the_square(name: str, softmax: float) -> None:
    found = layer(read(STACK, known(name)))
    assert found.softmax == pytest.approx(softmax, abs=1e-6)
    assert (found.head_dim, found.rotary_dim, found.layout, magnitude(found)) == (192, 64, "interleaved", 1.0)


def test_type_wins_over_rope_type() -> None:
    reading = read(STACK, scaled(type="linear", rope_type="yarn", factor=4.0))
    assert (layer(reading).rule, ratios(layer(reading))[7]) == ("linear", 0.25)
    assert reasons(reading)["rope_scaling.rope_type"] == "rope_scaling.type wins"
    assert decided(reading, "kind") == "rope_scaling.type"


def test_yarns_original_length_is_4096_for_want_of_a_key() -> None:
    without = layer(read(STACK, scaled(type="yarn", factor=4.0)))
    given = layer(read(STACK, scaled(type="yarn", factor=4.0, **{ORIGINAL: 4096})))
    assert ratios(without) == pytest.approx(ratios(given))
    other = layer(read(STACK, scaled(type="yarn", factor=4.0, **{ORIGINAL: 2048})))
    assert not np.allclose(ratios(without), ratios(other))


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"type": "su", "factor": 2.0}, "ValueError: Unsupported RoPE type su"),
        ({"type": "Llama3", "factor": 2.0}, "ValueError"),
        ({"type": "yarn"}, "KeyError: 'factor'"),
        ({"type": "linear"}, "KeyError: 'factor'"),
        ({"type": "mrope", "mrope_section": [1, 2]}, "AssertionError"),
        ({"type": "longrope", "factor": 2.0}, "longrope lacks"),
        ({"type": "llama3", "factor": 8.0, "low_freq_factor": 0.0}, "ZeroDivisionError"),
        ({"type": "longrope", "short_factor": [1.0], "long_factor": [1.0], ORIGINAL: 0}, "longrope lacks"),
    ],
)
def test_blocks_that_end_with_an_error(block: dict[str, Any], said: str) -> None:
    assert said in read(STACK, scaled(**block)).refusal


def test_the_long_list_is_used_at_every_length() -> None:
    config = known("phi-3-mini-128k")
    found = layer(read(STACK, config))
    divisors = np.array(config["rope_scaling"]["long_factor"])
    for length in (1, 4096, 4097, 131072):
        assert ratios(found, length) == pytest.approx(1 / divisors)
    assert magnitude(found) == pytest.approx(1.190238, abs=1e-6)
    assert layer(read(STACK, known("phi-4-mini"))).rotary_dim == 96


def test_phi_3_knows_three_kinds_and_switches_the_others_off() -> None:
    lists = {"short_factor": [1.0] * 48, "long_factor": [2.0] * 48}
    config = known("phi-3-mini-128k")
    plain = layer(read(STACK, {**config, "rope_scaling": {"type": "yarn", **lists}}))
    assert (plain.rule, ratios(plain)[3]) == ("default", 1)
    assert layer(read(STACK, {**config, "rope_scaling": {"type": "su", **lists}})).rule == "longrope"
    whole = {"type": "linear", "factor": 2, **lists}
    assert "AssertionError" in read(STACK, {**config, "rope_scaling": whole}).refusal
    assert "long_factor" in read(STACK, {**config, "rope_scaling": {"type": "su"}}).refusal


def test_dynamic_follows_the_sequence() -> None:
    config = {**known("llama-2-7b-dynamic"), "max_position_embeddings": 2048}
    found = layer(read(STACK, config))
    for length, base in ((2048, 1e4), (3072, 30527.736749), (8192, 135401.973042), (16384, 305921.968074)):
        assert base_at(found, length, 131072) == pytest.approx(base, rel=1e-9)


def test_internlm_doubles_positions_where_nothing_is_to_be_scaled() -> None:
    """lablup/mlxcel#1324, which says that mlx-lm's internlm3 has it: at position 3 pair 0 turned by 6, not by 3."""
    config = {
        **LLAMA,
        "model_type": "internlm3",
        "rope_scaling": {"rope_type": "dynamic", "factor": 6.0},
    }
    for block in (config["rope_scaling"], None):
        found = layer(read(STACK, {**config, "rope_scaling": block}))
        assert found.schedule.at(4, 4).inverse[0] * 3 == 6
        assert found.notes == ("positions are doubled",)
    right = layer(read(REFERENCE, {**config, "model_type": "llama"}))
    assert right.schedule.at(4, 4).inverse[0] * 3 == 3
    linear = layer(read(STACK, {**config, "rope_scaling": {"rope_type": "linear", "factor": 4.0}}))
    assert linear.schedule.at(4, 4).inverse[0] == 0.25
    assert "ValueError" in read(STACK, {**config, "rope_scaling": {"rope_type": "yarn", "factor": 4.0}}).refusal


@pytest.mark.parametrize("model_type", ["mixtral", "cohere", "gemma2", "qwen2_moe", "olmo"])
def test_models_with_a_bare_module_ignore_scaling(model_type: str) -> None:
    config = {**scaled(type="linear", factor=4.0), "model_type": model_type, "head_dim": 128}
    reading = read(STACK, config)
    assert ratios(layer(reading)) == pytest.approx(np.ones(64))
    assert reasons(reading)["rope_scaling.factor"] == "this model turns by nn.RoPE alone"


@pytest.mark.parametrize(
    ("model_type", "base"),
    [("llama", 1e4), ("qwen2", 1e6), ("mixtral", 1e6), ("minicpm", 1e6), ("gpt_oss", 1.5e5), ("cohere", 8e6)],
)
def test_a_file_saved_by_transformers_5_has_the_class_default_as_base(model_type: str, base: float) -> None:
    saved = {**LLAMA, "model_type": model_type, "rope_parameters": {"rope_type": "yarn", "rope_theta": 5e5}}
    reading = read(STACK, saved)
    assert (layer(reading).base, layer(reading).rule) == (base, "default")
    assert reasons(reading)["rope_parameters.rope_theta"] == "not read"


@pytest.mark.parametrize("model_type", ["qwen3", "glm4"])
def test_fields_without_a_default_are_a_type_error(model_type: str) -> None:
    saved = {**LLAMA, "model_type": model_type, "head_dim": 128, "rope_parameters": {"rope_theta": 5e5}}
    assert "TypeError" in read(STACK, saved).refusal
    assert "'rope_theta'" in read(STACK, saved).refusal
    scout = known("llama-4-scout")
    inner = {key: value for key, value in scout["text_config"].items() if key != "rope_scaling"}
    assert "'rope_scaling'" in read(STACK, {**scout, "text_config": inner}).refusal


def test_gemma_3_keeps_its_bases_and_loses_the_factor_when_saved_by_transformers_5() -> None:
    """mlxcel#1340: the factor 8 is for the layers that see everything; position 800 acts as 100 there."""
    config = known("gemma-3-4b")
    full, sliding = (layer(read(STACK, config), f"{kind}_attention") for kind in ("full", "sliding"))
    assert full.schedule.at(801, 801).inverse[0] * 800 == pytest.approx(100)
    assert (ratios(sliding)[0], sliding.base) == (1, 1e4)
    inner = {k: v for k, v in config["text_config"].items() if k not in ("rope_theta", "rope_scaling")}
    blocks = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    saved = read(STACK, {**config, "text_config": {**inner, "rope_parameters": blocks}})
    assert (layer(saved, "full_attention").base, ratios(layer(saved, "full_attention"))[0]) == (1e6, 1)


def test_glm_turns_whole_heads_for_want_of_a_share() -> None:
    """ml-explore/mlx-lm#1698: the family's share is 0.5, which stands in no file."""
    config = {**LLAMA, "model_type": "glm"}
    assert layer(read(STACK, config)).rotary_dim == 128
    assert layer(read(REFERENCE, config)).rotary_dim == 64
    assert layer(read(STACK, {**config, "partial_rotary_factor": 0.5})).rotary_dim == 64


def test_the_list_of_smollm_3_counts_and_that_of_llama_4_does_not() -> None:
    config = known("smollm3-3b")
    assert [found.kind for found in read(STACK, config).layers] == [TURNING, STILL]
    assert [found.kind for found in read(STACK, {**config, "no_rope_layers": [1] * 36}).layers] == [TURNING]
    scout = known("llama-4-scout")
    reading = read(STACK, {**scout, "text_config": {**scout["text_config"], "no_rope_layers": [1] * 48}})
    assert [found.kind for found in reading.layers] == [TURNING, STILL]
    assert "whatever the list says" in reasons(reading)["text_config.no_rope_layers"]
    warmth = layer(reading, STILL).temperature
    assert warmth is not None
    assert warmth.at(8191) == pytest.approx(1.069315, abs=1e-6)


def test_ministral_reads_rope_parameters_and_warms_queries() -> None:
    found = layer(read(STACK, known("ministral-3")))
    assert (found.rule, found.base, magnitude(found)) == ("yarn", 1e6, 1.0)
    assert found.temperature is not None
    assert found.temperature.at(262143) == pytest.approx(1.277259, abs=1e-6)


def test_hunyuans_alpha_counts_alone() -> None:
    found = layer(read(STACK, known("hunyuan-dense")))
    assert base_at(found, 1) == pytest.approx(11158839.925, abs=0.01)
    config = {**known("hunyuan-dense"), "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    assert "alpha" in read(STACK, config).refusal


def test_gemma_2_divides_by_its_own_root() -> None:
    assert layer(read(STACK, known("gemma-2-27b"))).softmax == pytest.approx(math.sqrt(128 / 144))


@pytest.mark.parametrize("name", ["gemma-3-4b", "gemma-4-text"])
@pytest.mark.parametrize("kind", ["full_attention", "sliding_attention"])
def test_kinds_of_gemma_agree_with_transformers(name: str, kind: str) -> None:
    ours, theirs = layer(read(STACK, known(name)), kind), layer(read(REFERENCE, known(name)), kind)
    assert compared(ours, theirs, 4097, 8192).equal


@pytest.mark.parametrize(
    "name",
    ["llama-2-7b", "llama-3.1-8b", "llama-3.2-1b", "qwen2.5-7b-yarn", "pythia-1b", "glm-4-9b", "command-r"],
)
def test_these_agree_with_transformers_at_every_length(name: str) -> None:
    ours, theirs = layer(read(STACK, known(name))), layer(read(REFERENCE, known(name)))
    for length in (1, 4097, 40000):
        assert compared(ours, theirs, length, 131072).equal


def test_the_edit_brings_a_saved_file_back() -> None:
    config = known("qwen3-8b-saved-by-v5")
    block = config["rope_parameters"]
    aim = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    first, second = STACK.remedies(Given("made", config=config), aim)
    for remedy in (first, second):
        found = layer(STACK.reading(remedy.after))
        assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
        assert magnitude(found) == pytest.approx(G4, abs=1e-6)
    assert first.text.startswith('edit config.json: set {"rope_theta": 1000000.0, "rope_scaling": {"type": "yarn"')


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.25])
def test_an_attention_factor_is_written_as_mscale(factor: float) -> None:
    config = known("qwen3-8b-yarn")
    block = {**config["rope_scaling"], "attention_factor": factor}
    aim = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    _, second = STACK.remedies(Given("made", config=config), aim)
    assert magnitude(layer(STACK.reading(second.after))) == pytest.approx(factor, abs=1e-9)


def test_a_gguf_file_is_not_read() -> None:
    assert "GGUF" in STACK.reading(Given("made.gguf", metadata={"general.architecture": "llama"})).absent


def test_values_that_make_no_sense_never_raise() -> None:
    assert 0.05 < survived(STACK, "2026-08") < 0.95
