"""vLLM: its changes by version, public reports of faults, remedies, and unwise files."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.vllm import VLLM
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    G4,
    G16,
    G32,
    G64,
    GPT_OSS_EXACT,
    GPT_OSS_PAIRS,
    GPT_OSS_ROUNDED,
    LLAMA,
    PAIRS,
    ROUNDED,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK = VLLM()
VERSIONS = [version.name for version in VLLM.versions]
OLD = "before-28244"
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read(entry: Entry, version: str) -> None:
    reading = read(STACK, entry.config, version)
    assert reading.serves or (version == OLD and entry.name in ("gemma-4-text", "ministral-3")), reading.refusal


@pytest.mark.parametrize("name", ["qwen2.5-7b-yarn", "qwen3-8b-yarn"])
def test_the_qwen_snippet_is_yarn_with_a_cap_of_factor_times_original(name: str) -> None:
    reading = read(STACK, known(name))
    found = layer(reading)
    assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(found) == pytest.approx(G4, abs=1e-6)
    assert (found.layout, found.softmax, reading.cap) == ("half", 1.0, 131072)


def test_truncate_is_obeyed_since_28244() -> None:
    config = known("gpt-oss-20b")
    now, before = layer(read(STACK, config)), read(STACK, config, OLD)
    assert ratios(now)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_EXACT, abs=1e-6)
    assert ratios(layer(before))[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_ROUNDED, abs=1e-6)
    assert magnitude(now) == magnitude(layer(before)) == pytest.approx(G32, abs=1e-6)
    assert reasons(before)["rope_scaling.truncate"] == "the ends of the ramp are always rounded"
    off = ratios(layer(before)) / ratios(now) - 1
    assert int(np.argmax(off)) == 17
    assert off.max() == pytest.approx(0.762682, abs=1e-5)


@pytest.mark.parametrize(
    ("name", "now", "before"),
    [
        ("qwen3-8b-attention-factor", 1.0, G4),
        ("qwen3-8b-mscale", G4, G4),
        ("qwen3-8b-mscale-pair", 1.0, G4),
        ("ministral-3", 1.0, G16),
    ],
)
def test_the_magnitude_follows_transformers_since_mid_2026(name: str, now: float, before: float) -> None:
    assert magnitude(layer(read(STACK, known(name)))) == pytest.approx(now, abs=1e-6)
    assert magnitude(layer(read(STACK, known(name), "0.25"))) == pytest.approx(before, abs=1e-6)


def test_an_explicit_factor_of_1_at_64_was_lost() -> None:
    config = scaled(rope_type="yarn", factor=64.0, original_max_position_embeddings=32, attention_factor=1.0)
    assert magnitude(layer(read(STACK, config))) == 1.0
    assert magnitude(layer(read(STACK, config, "0.25"))) == pytest.approx(G64, abs=1e-6)


def test_older_versions_multiply_by_attn_factor_and_newer_ones_do_not() -> None:
    config = scaled(**YARN, attn_factor=0.5)
    assert magnitude(layer(read(STACK, config, "0.25"))) == pytest.approx(G4 / 2, abs=1e-6)
    reading = read(STACK, config)
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert reasons(reading)["rope_scaling.attn_factor"] == "no longer read"


def test_older_versions_leave_the_magnitude_out_without_apply_yarn_scaling() -> None:
    config = scaled(**YARN, apply_yarn_scaling=False)
    assert magnitude(layer(read(STACK, config, "0.25"))) == 1.0
    assert magnitude(layer(read(STACK, config))) == pytest.approx(G4, abs=1e-6)


def test_an_extrapolation_factor_of_0_leaves_plain_interpolation_in_older_versions() -> None:
    config = scaled(**YARN, extrapolation_factor=0.0)
    assert ratios(layer(read(STACK, config, "0.25"))) == pytest.approx(np.full(64, 0.25))
    assert ratios(layer(read(STACK, config)))[0] == 1.0


def test_a_hybrid_without_rotation_is_no_finding() -> None:
    assert "nemotron_h has no positions and no rotation" in read(STACK, {**LLAMA, "model_type": "nemotron_h"}).absent


def test_files_saved_by_transformers_5_are_plain_in_the_oldest_version() -> None:
    config = known("qwen3-8b-saved-by-v5")
    assert layer(read(STACK, config)).rule == "yarn"
    before = read(STACK, config, OLD)
    assert (layer(before).rule, layer(before).base) == ("default", 10000.0)
    assert "rope_parameters.factor" in reasons(before)


def test_the_original_length_is_filled_in_by_transformers_5_alone() -> None:
    config = scaled(rope_type="yarn", factor=4.0)
    assert layer(read(STACK, config)).rule == "yarn"
    assert read(STACK, config, OLD).refusal == "KeyError: 'original_max_position_embeddings'"


def test_a_gguf_file_is_not_traced() -> None:
    assert "GGUF" in STACK.reading(Given("made", metadata={"general.architecture": "llama"})).absent


def test_magnitude_and_exact_ends_are_found_again_by_the_reference() -> None:
    config = known("gpt-oss-20b")
    reference = layer(TransformersFive().reading(Given("made", config=config)))
    assert compared(layer(read(STACK, config)), reference, 131072, 131072).equal
    assert not compared(layer(read(STACK, config, OLD)), reference, 131072, 131072).equal


@pytest.mark.parametrize("version", VERSIONS)
def test_remedies_bring_the_wanted_magnitude_back(version: str) -> None:
    config = known("qwen3-8b-attention-factor")
    reference = layer(TransformersFive().reading(Given("made", config=config)))
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "attention_factor": 1.0}
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    given = Given("made", config=config)
    texts = []
    for remedy in STACK.remedies(given, wanted):
        after = STACK.reading(remedy.after, STACK.version(version), 131072)
        if after.serves and compared(layer(after), reference, 131072, 131072).equal:
            texts.append(remedy.text)
    assert texts
    assert all(text.startswith("--hf-overrides '{\"rope_") for text in texts)
    assert all(text.endswith("--max-model-len 131072") for text in texts)


def test_a_remedy_puts_ministrals_temperature_where_vllm_looks_for_it() -> None:
    config = known("ministral-3")
    given = Given("made", config=config)
    reference = layer(TransformersFive().reading(given))
    wanted = Wanted("ministral3", "yarn", 1e6, 262144, 128, 128, 16.0, 16384, config["rope_parameters"])
    first, *others = STACK.remedies(given, wanted)
    assert compared(layer(STACK.reading(first.after)), reference, 262144, 262144).equal
    assert '"llama_4_scaling": {"beta": 0.1, "original_max_position_embeddings": 16384}' in first.text
    older = [layer(STACK.reading(each.after, STACK.version("0.25"))) for each in others]
    assert any(compared(each, reference, 262144, 262144).equal for each in older)


@pytest.mark.parametrize("version", VERSIONS)
def test_unwise_files_end_with_a_sentence(version: str) -> None:
    assert 0.05 < survived(STACK, version) < 0.95
