"""SGLang: golden numbers of its rules, their changes by version, public reports of faults, and unwise files."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.sglang import SGLang
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    G4,
    G16,
    G32,
    GPT_OSS_EXACT,
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

STACK = SGLang()
VERSIONS = [version.name for version in SGLang.versions]
OLD = "before-14270"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read(entry: Entry, version: str) -> None:
    reading = read(STACK, entry.config, version)
    assert reading.serves or (version == OLD and entry.name in ("gemma-4-text", "ministral-3")), reading.refusal


@pytest.mark.parametrize(("name", "cap"), [("qwen2.5-7b-yarn", 32768), ("qwen3-8b-yarn", 40960)])
def test_the_qwen_snippet_is_yarn_and_leaves_the_cap_as_it_is(name: str, cap: int) -> None:
    reading = read(STACK, known(name))
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert reading.cap == cap


def test_truncate_is_obeyed_since_14270() -> None:
    config = known("gpt-oss-20b")
    assert ratios(layer(read(STACK, config)))[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_EXACT, abs=1e-6)
    for version in ("before-22711", OLD):
        assert magnitude(layer(read(STACK, config, version))) == pytest.approx(G32, abs=1e-6)
    before = layer(read(STACK, config, OLD))
    assert ratios(before)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_ROUNDED, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "now", "before"),
    [
        ("ministral-3", 1.0, G16),
        ("qwen3-8b-mscale-pair", 1.0, G4),
        ("qwen3-8b-mscale", 1.098011, G4),
        ("qwen3-8b-attention-factor", G4, G4),
    ],
)
def test_the_pair_counts_since_22711_and_the_final_factor_never(name: str, now: float, before: float) -> None:
    assert magnitude(layer(read(STACK, known(name)))) == pytest.approx(now, abs=1e-6)
    assert magnitude(layer(read(STACK, known(name), "before-22711"))) == pytest.approx(before, abs=1e-6)


def test_half_a_pair_does_not_count() -> None:
    reading = read(STACK, scaled(**YARN, mscale=0.707))
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert reasons(reading)["rope_scaling.mscale"] == "counts beside the other one only"


def test_attn_factor_multiplies_in_every_version() -> None:
    for version in VERSIONS:
        found = layer(read(STACK, scaled(**YARN, attn_factor=0.5), version))
        assert magnitude(found) == pytest.approx(G4 / 2, abs=1e-6)


def test_an_extrapolation_factor_of_0_leaves_plain_interpolation() -> None:
    found = layer(read(STACK, scaled(**YARN, extrapolation_factor=0.0)))
    assert ratios(found) == pytest.approx(np.full(64, 0.25))


def test_the_final_factor_is_told_to_be_passed_over() -> None:
    reading = read(STACK, known("qwen3-8b-attention-factor"))
    assert reasons(reading)["rope_scaling.attention_factor"] == "not read; attn_factor multiplies"


def test_deepseek_has_a_yarn_of_its_own_and_a_softmax_factor_under_scaling_alone() -> None:
    found = layer(read(STACK, known("deepseek-v3")))
    assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert [magnitude(found), found.softmax] == pytest.approx([1.0, 1.873854], abs=1e-6)
    plain = layer(read(STACK, {**known("deepseek-v3"), "rope_scaling": None}))
    assert (plain.rule, plain.softmax) == ("default", 1.0)
    assert ratios(plain) == pytest.approx(np.ones(32))


def test_dynamic_is_a_constant() -> None:
    found = layer(read(STACK, scaled(rope_type="dynamic", factor=4.0)))
    assert {round(base_at(found, length), 6) for length in (1, 2048, 9000)} == {135401.973042}
    assert base_at(layer(read(STACK, known("hunyuan-dense"))), 1) == pytest.approx(11158839.925, rel=1e-9)


@pytest.mark.parametrize(("length", "short"), [(4096, True), (4097, False)])
def test_longrope_switches_with_the_sequence_and_for_the_whole_batch(length: int, short: bool) -> None:
    config = known("phi-3-mini-128k")
    reading = read(STACK, config)
    wanted = config["rope_scaling"]["short_factor" if short else "long_factor"]
    assert 1 / ratios(layer(reading), length, 131072) == pytest.approx(wanted)
    assert magnitude(layer(reading), length, 131072) == pytest.approx(1.190238, abs=1e-6)
    assert "batch" in reading.notes[-1]
    assert reading.cap == 131072


@pytest.mark.parametrize("kind", ["ntk", "su", "mrope", "cubic"])
def test_kinds_that_it_does_not_know_end_with_an_error(kind: str) -> None:
    assert f"unknown RoPE scaling type {kind}" in read(STACK, scaled(rope_type=kind, factor=2.0)).refusal


def test_proportional_frequencies_came_with_transformers_5() -> None:
    config = scaled(rope_type="proportional", partial_rotary_factor=0.5)
    assert layer(read(STACK, config)).rule == "proportional"
    assert "ValueError" in read(STACK, config, OLD).refusal


def test_rope_type_wins_over_type() -> None:
    assert layer(read(STACK, scaled(rope_type="linear", type="yarn", factor=4.0))).rule == "linear"


def test_keys_that_llama3_lacks_get_defaults() -> None:
    config = known("llama-3.1-8b")
    bare = {"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 8192}
    with_defaults = layer(read(STACK, {**config, "rope_scaling": bare}))
    assert ratios(with_defaults) == pytest.approx(ratios(layer(read(STACK, config))))
    unscaled = layer(read(STACK, {**config, "rope_scaling": {"rope_type": "llama3"}}))
    assert ratios(unscaled) == pytest.approx(np.ones(64))


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn"])
def test_a_kind_without_a_factor_is_plain(kind: str) -> None:
    found = layer(read(STACK, scaled(rope_type=kind)))
    assert ratios(found) == pytest.approx(np.ones(64))
    assert magnitude(found) == 1.0


def test_proportional_frequencies_have_no_factor() -> None:
    config = known("gemma-4-text")
    block = {**config["rope_parameters"]["full_attention"], "factor": 8.0}
    reading = read(STACK, {**config, "rope_parameters": {**config["rope_parameters"], "full_attention": block}})
    assert layer(reading, "full_attention").schedule.at(1, 1).inverse[63] == pytest.approx(0.0333762469, rel=1e-8)
    assert "rope_parameters.full_attention.factor" in reasons(reading)


def test_ministrals_temperature_takes_its_length_from_beside_the_block() -> None:
    config = known("ministral-3")
    found = layer(read(STACK, config)).temperature
    assert found is not None
    assert [found.at(p) for p in (16383, 16384, 65536)] == pytest.approx([1, 1.069315, 1.160944], abs=1e-6)
    block = {**config["rope_parameters"], "original_max_position_embeddings": 8192}
    inside = layer(read(STACK, {**config, "rope_parameters": block})).temperature
    assert inside is not None
    assert inside.length == 16384
    beside = layer(read(STACK, {**config, "original_max_position_embeddings": 8192})).temperature
    assert beside is not None
    assert beside.length == 8192


@pytest.mark.parametrize(
    ("config", "cap", "key"),
    [
        ({}, 2048, "max_position_embeddings"),
        ({"max_position_embeddings": None}, 2048, "default"),
        ({"seq_length": 300, "max_seq_len": 200}, 300, "seq_length"),
        ({"model_max_length": 131072}, 131072, "model_max_length"),
        ({"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, 8192, "max_position_embeddings"),
        ({"rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}, 8192, "max_position_embeddings"),
        ({"rope_scaling": YARN}, 2048, "max_position_embeddings"),
    ],
)
def test_the_cap(config: dict[str, Any], cap: int, key: str) -> None:
    reading = read(STACK, {**LLAMA, **config})
    assert (reading.cap, decided(reading, "cap")) == (cap, key)


def test_a_longer_server_needs_a_variable() -> None:
    assert read(STACK, LLAMA, served=2048).notes == ()
    assert "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1" in read(STACK, LLAMA, served=2049).notes[0]


def test_files_saved_by_transformers_5_are_plain_in_the_oldest_version() -> None:
    config = known("qwen3-8b-saved-by-v5")
    assert layer(read(STACK, config)).rule == "yarn"
    before = read(STACK, config, OLD)
    assert (layer(before).rule, layer(before).base) == ("default", 10000.0)


def test_a_gguf_file_is_not_traced() -> None:
    assert "GGUF" in STACK.reading(Given("made", metadata={"general.architecture": "llama"})).absent


@pytest.mark.parametrize("name", ["qwen3-8b-attention-factor", "qwen3-8b-mscale", "qwen3-8b-yarn"])
def test_remedies_bring_the_wanted_magnitude_back(name: str) -> None:
    config = known(name)
    given = Given("made", config=config)
    reference = layer(TransformersFive().reading(given))
    block = {**config["rope_scaling"], "rope_theta": 1e6}
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    worked = []
    for remedy in STACK.remedies(given, wanted):
        after = STACK.reading(remedy.after, None, 131072)
        if compared(layer(after), reference, 131072, 131072).equal:
            worked.append(remedy.text)
            assert after.cap == 131072
    assert worked
    assert worked[0].startswith('--json-model-override-args \'{"rope_scaling":')
    assert worked[0].endswith("--context-length 131072")


@pytest.mark.parametrize("version", VERSIONS)
def test_unwise_files_end_with_a_sentence(version: str) -> None:
    assert 0.05 < survived(STACK, version) < 0.95
