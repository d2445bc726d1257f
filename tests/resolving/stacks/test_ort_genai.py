"""onnxruntime-genai: YaRN by the key beta_fast alone, ends never rounded, two tables for LongRoPE, else plain."""

import math
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import STILL, TURNING, Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.ort_genai import BUILDERS, OrtGenAi
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    EXACT,
    G4,
    GPT_OSS_EXACT,
    GPT_OSS_PAIRS,
    LLAMA,
    PAIRS,
    base_at,
    decided,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK, REFERENCE = OrtGenAi(), TransformersFive()
BETAS = {"beta_fast": 32.0, "beta_slow": 1.0}


def qwen(**block: Any) -> dict[str, Any]:
    config = known("qwen3-8b-yarn")
    return {**config, "rope_scaling": {**config["rope_scaling"], **block}}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_has_no_builder(entry: Entry) -> None:
    reading = STACK.reading(entry.given)
    local = entry.config["model_type"].startswith("gemma3")  # no config.rope_local_base_freq beside transformers 5
    assert reading.serves == (entry.config["model_type"] in BUILDERS and not local), reading.refusal
    if reading.serves:
        assert reading.cap == (entry.config.get("text_config") or entry.config)["max_position_embeddings"]


@pytest.mark.parametrize("name", ["qwen2.5-7b-yarn", "qwen3-8b-yarn", "qwen3-8b-saved-by-v5"])
def test_the_snippet_of_the_model_card_is_plain(name: str) -> None:
    reading = read(STACK, known(name))
    assert (layer(reading).rule, magnitude(layer(reading))) == ("default", 1)
    assert ratios(layer(reading)) == pytest.approx(np.ones(64))
    assert "plain tables" in next(why for key, why in reasons(reading).items() if key.endswith("factor"))


@pytest.mark.parametrize("kind", ["yarn", "linear", "llama3"])
def test_beta_fast_makes_yarn_of_any_kind(kind: str) -> None:
    found = layer(read(STACK, qwen(**BETAS, rope_type=kind)))
    assert found.rule == "yarn"
    assert ratios(found)[list(PAIRS)] == pytest.approx(EXACT, abs=1e-6)
    assert magnitude(found) == pytest.approx(G4, abs=1e-6)


def test_the_ends_of_the_ramp_are_never_rounded() -> None:
    reading = read(STACK, qwen(**BETAS, truncate=True, attention_factor=2.0))
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(EXACT, abs=1e-6)
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert {"rope_scaling.truncate", "rope_scaling.attention_factor"} <= set(reasons(reading))
    oss = known("gpt-oss-20b")
    assert ratios(layer(read(STACK, oss)))[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_EXACT, abs=1e-6)
    assert compared(layer(read(STACK, oss)), layer(read(REFERENCE, oss)), 100_000, 131072).equal


@pytest.mark.parametrize(
    ("pair", "factor"),
    [
        ({"mscale": 0.707, "mscale_all_dim": 0}, 0.707),  # that number itself
        ({"mscale": 1.0}, 1.0),
        ({"mscale": 1.0, "mscale_all_dim": 1.0}, 1.0),
        ({"mscale": 1.0, "mscale_all_dim": 0.5}, G4 / (1 + 0.05 * math.log(4))),
        ({"mscale_all_dim": 1.0}, G4),
        ({}, G4),
    ],
)
def test_the_factor_on_cos_and_sin(pair: dict[str, float], factor: float) -> None:
    assert magnitude(layer(read(STACK, qwen(**BETAS, **pair)))) == pytest.approx(factor, abs=1e-6)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({**BETAS, "beta_fast": 20000.0}, "AssertionError"),  # the ramp begins before the first pair
        ({**BETAS, "beta_slow": 64.0}, "AssertionError"),
        ({**BETAS, "factor": None}, "KeyError: 'factor'"),
        ({**BETAS, "beta_slow": 0.0}, "no ramp"),
    ],
)
def test_ramps_that_do_not_fit_end_the_builder(block: dict[str, Any], said: str) -> None:
    assert said in read(STACK, qwen(**block)).refusal


def test_linear_and_llama_3_and_nothing_else() -> None:
    config = known("llama-3.1-8b")
    assert compared(layer(read(STACK, config)), layer(read(REFERENCE, config)), 10_000, 10_000).equal
    other = layer(read(STACK, {**known("mistral-nemo"), "rope_scaling": config["rope_scaling"]}))
    assert ratios(other) == pytest.approx(np.ones(64))
    assert ratios(layer(read(STACK, known("llama-2-7b-linear"))))[9] == 0.25
    assert ratios(layer(read(STACK, known("llama-2-7b-dynamic"))), 50_000) == pytest.approx(np.ones(64))


def test_longrope_has_two_tables_chosen_while_it_runs() -> None:
    config = known("phi-3-mini-128k")
    ours, theirs = layer(read(STACK, config)), layer(read(REFERENCE, config))
    for length in (1, 4096, 4097, 131072):
        assert compared(ours, theirs, length, 131072).equal
    block = {**config["rope_scaling"], "short_mscale": 1.1, "long_mscale": 1.3}
    found = layer(read(STACK, {**config, "rope_scaling": block}))
    assert (magnitude(found, 4096), magnitude(found, 4097)) == (1.1, 1.3)
    assert layer(read(STACK, known("phi-4-mini"))).rotary_dim == 96


def test_lists_of_other_models_are_passed_over() -> None:
    block = {"rope_type": "longrope", "short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "factor": 2.0}
    assert layer(read(STACK, {**LLAMA, "rope_scaling": block})).rule == "default"


def test_gemma_3_scales_its_sliding_layers_too() -> None:
    """ollama/ollama#13452 tells of the same factor in the wrong place: local layers have to be unscaled."""
    reading = read(STACK, known("gemma-3-4b"), "2026-08-hf4")
    assert "rope_local_base_freq" in read(STACK, known("gemma-3-4b")).refusal  # 2.13: absent beside transformers 5
    assert ratios(layer(reading, "full_attention"))[0] == 0.125
    sliding = layer(reading, "sliding_attention")
    assert (sliding.base, ratios(sliding)[0]) == (1e4, 0.125)
    config = known("gemma-3-4b")
    blocks = {
        "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
        "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
    }
    inner = {k: v for k, v in config["text_config"].items() if "rope" not in k}
    saved = read(STACK, {**config, "text_config": {**inner, "rope_parameters": blocks}})
    assert "rope_local_base_freq" in saved.refusal


def test_hunyuans_alpha_is_baked_in() -> None:
    assert base_at(layer(read(STACK, known("hunyuan-dense"))), 1) == pytest.approx(11158839.925, abs=0.01)


def test_softmax_scales() -> None:
    assert layer(read(STACK, known("gemma-2-27b"))).softmax == pytest.approx(math.sqrt(128 / 144))
    granite = {**LLAMA, "model_type": "granite", "attention_multiplier": 0.015625}
    assert layer(read(STACK, granite)).softmax == pytest.approx(0.015625 * math.sqrt(128))


def test_the_list_of_smollm_3_counts() -> None:
    config = known("smollm3-3b")
    assert [found.kind for found in read(STACK, config).layers] == [TURNING, STILL]
    assert [found.kind for found in read(STACK, {**config, "no_rope_layers": [1] * 36}).layers] == [TURNING]


def test_bases_by_their_many_names() -> None:
    for more, key in (
        ({"rope_theta": 5e5}, "rope_theta"),
        ({"rope_parameters": {"rope_theta": 5e5}}, "rope_parameters.rope_theta"),
        ({"rope_embedding_base": 5e5}, "rope_embedding_base"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5}}, "rope_scaling.rope_theta"),
    ):
        reading = read(STACK, {**LLAMA, **more})
        assert layer(reading).base == 5e5
        assert decided(reading, "base") == key
    assert layer(read(STACK, LLAMA)).base == 1e4


def test_the_betas_written_out_bring_yarn_about() -> None:
    config = known("qwen3-8b-yarn")
    block = {**config["rope_scaling"], "rope_theta": 1e6}
    aim = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    [remedy] = STACK.remedies(Given("made", config=config), aim)
    assert '"beta_fast": 32.0, "beta_slow": 1.0' in remedy.text
    assert ratios(layer(STACK.reading(remedy.after)))[list(PAIRS)] == pytest.approx(EXACT, abs=1e-6)
    exact = {**config, "rope_scaling": {**config["rope_scaling"], "truncate": False}}
    assert compared(layer(STACK.reading(remedy.after)), layer(read(REFERENCE, exact)), 32769, 131072).equal


def test_a_gguf_file_is_not_traced() -> None:
    assert "GGUF" in STACK.reading(Given("made.gguf", metadata={"general.architecture": "llama"})).absent


def test_values_that_make_no_sense_never_raise() -> None:
    assert 0.05 < survived(STACK, "2026-08") < 0.95
