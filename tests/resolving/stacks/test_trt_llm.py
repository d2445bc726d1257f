"""TensorRT-LLM: golden numbers of its rules, models with code of their own, and files that make no sense."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.trt_llm import TensorRTLLM
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    G4,
    G32,
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

STACK = TensorRTLLM()
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}
ABSENT = {
    *("deepseek-v2-lite", "gemma-2-27b", "pythia-1b", "gpt-j-6b", "glm-4-9b", "command-r", "falcon-7b"),
    *("smollm3-3b", "internlm2-7b", "minicpm4-8b", "ministral-3"),
}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_has_no_model(entry: Entry) -> None:
    reading = read(STACK, entry.config)
    assert not reading.refusal
    assert bool(reading.absent) == (entry.name in ABSENT)


@pytest.mark.parametrize(("name", "cap"), [("qwen2.5-7b-yarn", 32768), ("qwen3-8b-yarn", 40960)])
def test_the_qwen_snippet_is_yarn(name: str, cap: int) -> None:
    reading = read(STACK, known(name))
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert [magnitude(layer(reading)), reading.cap] == pytest.approx([G4, cap], abs=1e-6)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [("qwen3-8b-attention-factor", G4), ("qwen3-8b-mscale", 1.098011), ("qwen3-8b-mscale-pair", 1.0)],
)
def test_the_magnitude_is_the_ratio_always(name: str, wanted: float) -> None:
    assert magnitude(layer(read(STACK, known(name)))) == pytest.approx(wanted, abs=1e-6)
    half = read(STACK, scaled(**YARN, mscale=0.707))
    assert magnitude(layer(half)) == pytest.approx(1.098011, abs=1e-6)


def test_the_ends_are_always_rounded() -> None:
    reading = read(STACK, known("gpt-oss-20b"))
    found = layer(reading)
    assert ratios(found)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_ROUNDED, abs=1e-6)
    assert magnitude(found) == pytest.approx(G32, abs=1e-6)
    assert found.rule == "yarn"
    assert reasons(reading)["rope_scaling.truncate"] == "the ends of the ramp are always rounded"


def test_gpt_oss_has_code_of_its_own_that_needs_the_betas() -> None:
    config = known("gpt-oss-20b")
    block = {**config["rope_scaling"], "mscale": 1.0, "mscale_all_dim": 1.0}
    assert magnitude(layer(read(STACK, {**config, "rope_scaling": block}))) == pytest.approx(G32, abs=1e-6)
    block.pop("beta_fast")
    assert read(STACK, {**config, "rope_scaling": block}).refusal == "KeyError: 'beta_fast'"


def test_deepseek_v3() -> None:
    found = layer(read(STACK, known("deepseek-v3")))
    assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert [magnitude(found), found.softmax] == pytest.approx([1.0, 1.873854], abs=1e-6)
    plain = layer(read(STACK, {**known("deepseek-v3"), "rope_scaling": None}))
    assert ratios(plain) == pytest.approx(np.ones(32))
    assert plain.softmax == 1.0


def test_deepseeks_softmax_factor_does_not_ask_for_the_kind() -> None:
    block = {"rope_type": "default", "factor": 40.0, "mscale_all_dim": 1.0}
    assert layer(read(STACK, {**known("deepseek-v3"), "rope_scaling": block})).softmax == pytest.approx(
        1.873854, abs=1e-6
    )


def test_a_kind_that_transformers_does_not_see_has_1024_for_its_original_length() -> None:
    found = layer(read(STACK, scaled(rope_type="linear", type="yarn", factor=4.0)))
    assert found.rule == "yarn"
    assert next(item.value for item in found.used if item.what == "ramp length") == 1024


def test_dynamic_reads_alpha_alone() -> None:
    reading = read(STACK, scaled(rope_type="dynamic", factor=4.0))
    assert ratios(layer(reading), 9000) == pytest.approx(np.ones(64))
    assert layer(reading).notes == ("factor counts for the cap alone; alpha, 1 by default, stretches the base",)
    assert base_at(layer(read(STACK, known("hunyuan-dense"))), 1) == pytest.approx(11158839.925, rel=1e-9)


@pytest.mark.parametrize(("served", "short"), [(4096, True), (4097, False)])
def test_longrope_takes_one_list_for_the_whole_server(served: int, short: bool) -> None:
    config = known("phi-4-mini")
    found = layer(read(STACK, config, served=served))
    wanted = config["rope_scaling"]["short_factor" if short else "long_factor"]
    assert 1 / ratios(found, 10, served) == pytest.approx(wanted)
    assert [magnitude(found), found.rotary_dim] == pytest.approx([1.190238, 96], abs=1e-6)


@pytest.mark.parametrize(("block", "rule"), [({"rope_type": "yarn", "type": "linear"}, "linear"), ({"type": "su"}, "")])
def test_type_wins_over_rope_type_and_su_is_unknown(block: dict[str, Any], rule: str) -> None:
    reading = read(STACK, scaled(factor=4.0, **block))
    assert (layer(reading).rule if rule else reading.refusal) == (
        rule or "ValueError: unsupported rotary scaling type su"
    )
    if rule:
        assert decided(reading, "kind") == "rope_scaling.type"


def test_capital_letters_are_fine() -> None:
    block = {**known("llama-3.1-8b")["rope_scaling"], "rope_type": "LLAMA3"}
    found = layer(read(STACK, {**known("llama-3.1-8b"), "rope_scaling": block}))
    assert found.rule == "llama3"
    assert np.sum(np.isclose(ratios(found), 0.125)) == 29


def test_a_factor_without_a_kind_multiplies_the_frequencies() -> None:
    found = layer(read(STACK, scaled(factor=2.0)))
    assert ratios(found) == pytest.approx(np.full(64, 2.0))
    halved = layer(read(STACK, scaled(rope_type="linear", factor=2.0)))
    assert ratios(halved) == pytest.approx(np.full(64, 0.5))


def test_gemma_3_loses_the_scaling_of_its_full_layers() -> None:
    reading = read(STACK, known("gemma-3-4b"))
    full = layer(reading, "full_attention")
    assert ratios(full) == pytest.approx(np.ones(128))
    assert (full.base, layer(reading, "sliding_attention").base) == (1e6, 1e4)
    assert "transformers 4" in full.notes[0]
    assert "text_config.rope_scaling.factor" in reasons(reading)


def test_gemma_4_turns_a_quarter_of_the_pairs_of_a_whole_head() -> None:
    found = layer(read(STACK, known("gemma-4-text")), "full_attention")
    inverse = found.schedule.at(1, 1).inverse
    assert (int(np.sum(inverse > 0)), len(inverse)) == (64, 256)
    assert inverse[63] == pytest.approx(0.0333762469, rel=1e-8)


def test_a_base_is_taken_for_a_width() -> None:
    reading = read(STACK, {**LLAMA, "rotary_emb_base": 10000})
    assert layer(reading).rotary_dim == 10000
    assert decided(reading, "rotated width") == "rotary_emb_base"
    assert layer(read(STACK, {**LLAMA, "rotary_pct": 0.5})).rotary_dim == 64
    assert layer(read(STACK, {**LLAMA, "rotary_dim": 32})).rotary_dim == 32


@pytest.mark.parametrize(
    ("config", "cap"),
    [
        ({}, 2048),
        ({"max_position_embeddings": None}, 2048),
        ({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, 8192),
        ({"rope_scaling": {"rope_type": "linear", "factor": 1.0005}}, 2050),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, 8192),
        ({"rope_scaling": YARN}, 2048),
    ],
)
def test_the_cap(config: dict[str, Any], cap: int) -> None:
    assert read(STACK, {**LLAMA, **config}).cap == cap


def test_llama_4_is_capped() -> None:
    reading = read(STACK, known("llama-4-scout"))
    assert reading.cap == 8192
    assert layer(reading, "layers without rotation").temperature is not None
    assert layer(reading, "layers without rotation").rotary_dim == 0


def test_a_gguf_file_is_not_traced() -> None:
    assert "GGUF" in STACK.reading(Given("made", metadata={"general.architecture": "llama"})).absent


@pytest.mark.parametrize("name", ["qwen3-8b-attention-factor", "qwen3-8b-mscale"])
def test_remedies_bring_the_wanted_magnitude_back(name: str) -> None:
    config = known(name)
    given = Given("made", config=config)
    reference = layer(TransformersFive().reading(given))
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, {**config["rope_scaling"], "rope_theta": 1e6})
    remedies = list(STACK.remedies(given, wanted))
    assert [compared(layer(STACK.reading(each.after)), reference, 40960, 40960).equal for each in remedies] == [
        False,
        True,
    ]
    assert remedies[1].text.startswith('edit config.json: {"rope_parameters": {')


def test_exact_ends_cannot_be_brought_about() -> None:
    config = known("gpt-oss-20b")
    given = Given("made", config=config)
    reference = layer(TransformersFive().reading(given))
    wanted = Wanted("gpt_oss", "yarn", 150000.0, 131072, 64, 64, 32.0, 4096, config["rope_scaling"])
    after = [STACK.reading(each.after) for each in STACK.remedies(given, wanted)]
    assert not any(each.serves and compared(layer(each), reference, 4096, 4096).equal for each in after)


def test_unwise_files_end_with_a_sentence() -> None:
    assert 0.05 < survived(STACK, "") < 0.95
