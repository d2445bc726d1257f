"""TGI: golden numbers of its rules, what it passes over in silence, and files that make no sense."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.tgi import TextGenerationInference
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    DEEPSEEK_PAIRS,
    DEEPSEEK_ROUNDED,
    G4,
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

STACK = TextGenerationInference()
ORIGINAL = "original_max_position_embeddings"
YARN = {"rope_type": "yarn", "factor": 4.0, ORIGINAL: 512}


def scaled(**block: Any) -> dict[str, Any]:
    return {**LLAMA, "rope_scaling": block}


@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_has_no_model(entry: Entry) -> None:
    assert not read(STACK, entry.config).refusal


def test_the_qwen_snippet_is_yarn() -> None:
    found = layer(read(STACK, known("qwen2.5-7b-yarn")))
    assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(found) == pytest.approx(G4, abs=1e-6)
    assert "transformers 4.51" in read(STACK, known("qwen3-8b-yarn")).absent


def test_yarns_betas_ends_and_magnitude_are_fixed_rules() -> None:
    reading = read(STACK, scaled(**YARN, beta_fast=4, beta_slow=2, truncate=False, attention_factor=7.0))
    plain = layer(read(STACK, scaled(**YARN)))
    assert ratios(layer(reading)) == pytest.approx(ratios(plain))
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert set(reasons(reading)) == {
        f"rope_scaling.{name}" for name in ("beta_fast", "beta_slow", "truncate", "attention_factor")
    }
    half = layer(read(STACK, scaled(**YARN, mscale=0.707)))
    assert magnitude(half) == pytest.approx(1.098011, abs=1e-6)


def test_deepseek_multiplies_the_softmax_scale() -> None:
    found = layer(read(STACK, known("deepseek-v3")))
    assert ratios(found)[list(DEEPSEEK_PAIRS)] == pytest.approx(DEEPSEEK_ROUNDED, abs=1e-6)
    assert [found.softmax, magnitude(found)] == pytest.approx([1.873854, 1.0], abs=1e-6)


@pytest.mark.parametrize("name", ["llama-2-7b-linear", "gemma-3-4b"])
def test_linear_scaling_is_passed_over_in_silence(name: str) -> None:
    reading = read(STACK, known(name))
    assert all(ratios(found)[-1] == pytest.approx(1) for found in reading.layers)
    [key] = [key for key in reasons(reading) if key.endswith("rope_scaling.factor")]
    assert reasons(reading)[key] == "linear scaling is passed over"
    assert [found.base for found in reading.layers] == ([1e4] if name.startswith("llama") else [1e6, 1e4])


def test_layers_that_slide_have_no_scaling() -> None:
    config = known("gemma-3-4b")["text_config"]
    reading = read(STACK, {**config, "rope_scaling": {"rope_type": "yarn", "factor": 8.0, ORIGINAL: 16384}})
    assert layer(reading, "full_attention").rule == "yarn"
    assert layer(reading, "sliding_attention").rule == "default"


def test_dynamic_grows_with_the_sequence() -> None:
    found = layer(read(STACK, scaled(rope_type="dynamic", factor=2.0)))
    assert [base_at(found, n) for n in (1000, 2048, 4096)] == pytest.approx([10000, 10000, 30527.74], abs=0.01)
    small = {**scaled(rope_type="dynamic", factor=2.0), "hidden_size": 32, "max_position_embeddings": 32}
    assert base_at(layer(read(STACK, small)), 64) == pytest.approx(35097.92, abs=0.01)


@pytest.mark.parametrize(("position", "short"), [(4095, True), (4096, False)])
def test_longrope_looks_at_each_position_on_its_own(position: int, short: bool) -> None:
    config = known("phi-3-mini-128k")
    found = layer(read(STACK, config))
    wanted = config["rope_scaling"]["short_factor" if short else "long_factor"]
    turned = found.schedule.of_token(position, 100_000, 131072)
    plain = found.schedule.of_token(position, 100_000, 131072).inverse * np.array(wanted)
    assert plain == pytest.approx([10000.0 ** -(pair / 48) for pair in range(48)])
    assert turned.magnitude == pytest.approx(1.190238, abs=1e-6)


def test_magnitudes_of_the_lists_multiply_angles() -> None:
    config = known("phi-3-mini-128k")
    block = {**config["rope_scaling"], "short_mscale": 1.5, "long_mscale": 2.0}
    found, without = layer(read(STACK, {**config, "rope_scaling": block})), layer(read(STACK, config))
    assert ratios(found, 10) == pytest.approx(1.5 * ratios(without, 10))
    assert ratios(found, 9000) == pytest.approx(2.0 * ratios(without, 9000))
    assert magnitude(found, 9000) == 1.0


def test_longropes_original_length_stands_beside_the_block() -> None:
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64}
    inside = scaled(rope_type="longrope", **lists, **{ORIGINAL: 512})
    assert "AttributeError" in read(STACK, inside).refusal
    reading = read(STACK, {**inside, ORIGINAL: 1024})
    assert (ratios(layer(reading), 1024)[0], ratios(layer(reading), 1025)[0]) == (1.0, 0.5)
    assert reasons(reading)[f"rope_scaling.{ORIGINAL}"] == "looked for beside rope_scaling"


@pytest.mark.parametrize(
    ("block", "error"),
    [
        ({"rope_type": "yarn", "factor": 4.0}, "KeyError"),
        ({"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}, "llama3 lacks"),
        ({"rope_type": "dynamic"}, "KeyError: 'factor'"),
        ({"rope_type": "mrope"}, "KeyError: 'mrope_section'"),
        ({"rope_type": "ntk", "factor": 2.0}, "NotImplementedError"),
        ({"factor": 2.0}, "NotImplementedError"),
    ],
)
def test_what_ends_with_an_error(block: dict[str, Any], error: str) -> None:
    assert error in read(STACK, scaled(**block)).refusal


def test_a_share_counts_in_models_that_have_one() -> None:
    assert layer(read(STACK, {**LLAMA, "partial_rotary_factor": 0.5})).rotary_dim == 128
    assert layer(read(STACK, known("pythia-1b"))).rotary_dim == 64


def test_phi_3_has_an_original_length_of_its_own() -> None:
    config = {key: value for key, value in known("phi-3-mini-128k").items() if key != ORIGINAL}
    assert magnitude(layer(read(STACK, config))) == pytest.approx(1.190238, abs=1e-6)


def test_rope_type_wins_over_type() -> None:
    assert layer(read(STACK, scaled(**YARN, type="linear"))).rule == "yarn"


def test_llama3_bands() -> None:
    found = ratios(layer(read(STACK, known("llama-3.1-8b"))))
    assert found[29:35] == pytest.approx([0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211], abs=1e-6)


def test_files_saved_by_transformers_5_are_plain() -> None:
    reading = read(STACK, {**LLAMA, "rope_parameters": {**YARN, "rope_theta": 5e5}})
    assert (layer(reading).rule, layer(reading).base) == ("default", 10000.0)
    assert "rope_parameters.rope_theta" in reasons(reading)


@pytest.mark.parametrize(
    ("config", "cap"),
    [
        ({}, 2048),
        ({"rope_scaling": YARN}, 2048),
        ({"max_position_embeddings": None, "max_seq_len": 100, "n_positions": 200}, 100),
        ({"max_position_embeddings": None}, None),
    ],
)
def test_the_cap_comes_from_the_top_of_the_file(config: dict[str, Any], cap: int | None) -> None:
    assert read(STACK, {**LLAMA, **config}).cap == cap
    assert read(STACK, known("gemma-3-4b")).cap is None


def test_a_part_of_phi_3s_heads_and_gguf_files_are_not_traced() -> None:
    assert "not traced" in read(STACK, known("phi-4-mini")).absent
    assert "GGUF" in STACK.reading(Given("made", metadata={"general.architecture": "llama"})).absent


@pytest.mark.parametrize(
    ("rule", "block", "text"),
    [
        ("dynamic", {"rope_type": "dynamic", "factor": 4.0}, "--rope-scaling dynamic --rope-factor 4"),
        (
            "linear",
            {"rope_type": "linear", "factor": 4.0},
            'edit config.json: {"rope_theta": 10000.0',
        ),
        ("yarn", {**YARN, "attention_factor": 1.3}, 'edit config.json: {"rope_theta": 10000.0'),
    ],
)
def test_remedies_bring_the_wanted_scaling_about(rule: str, block: dict[str, Any], text: str) -> None:
    wished = Given("wished", config=scaled(**block))
    reference = layer(TransformersFive().reading(wished))
    wanted = Wanted("llama", rule, 10000.0, 8192, 128, 128, 4.0, 512 if rule == "yarn" else None, block)
    worked = [
        remedy.text
        for remedy in STACK.remedies(Given("made", config=LLAMA), wanted)
        if (after := STACK.reading(remedy.after)).serves
        and all(compared(layer(after), reference, n, 8192).equal for n in (100, 2048, 8192))
    ]
    assert worked
    assert worked[0].startswith(text)


def test_unwise_files_end_with_a_sentence() -> None:
    assert 0.05 < survived(STACK, "") < 0.95
