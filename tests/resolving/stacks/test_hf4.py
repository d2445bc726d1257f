"""transformers 4: YaRN by version, golden numbers of the formulas, and files that version 5 wrote."""

from typing import Any

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.readers.transformers4 import standardised
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.hf4 import TransformersFour
from tests.helpers.hostile_configs import endured, hostile_configs
from tests.helpers.stack_readings import KNOWN, Read

STACK = TransformersFour()
LLAMA = {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 2, "max_position_embeddings": 4096}
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
#: YaRN multipliers of width 128 and base 1e6 at those pairs, from the paper's formula
RAMP_OF_40960_BY_4 = (1, 1, 0.823529, 0.647059, 0.470588, 0.338235, 0.294118, 0.25, 0.25)
RAMP_OF_32768_BY_1_25 = (1, 0.988235, 0.941176, 0.894118, 0.847059, 0.811765, 0.8, 0.8, 0.8)
RAMP_OF_32768_BY_4 = (1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25)


@pytest.mark.parametrize(
    ("version", "expected", "magnitude"),
    [
        ("4.55", RAMP_OF_32768_BY_1_25, 1.022314),
        ("4.50", RAMP_OF_32768_BY_1_25, 1.022314),
        ("4.43", RAMP_OF_40960_BY_4, 1.138629),
    ],
)
def test_the_snippet_of_qwen3s_card_by_version(version: str, expected: tuple[float, ...], magnitude: float) -> None:
    read = Read(STACK, KNOWN["qwen3-8b-yarn"], version)
    assert read.multipliers(*PAIRS) == pytest.approx(expected, abs=1e-6)
    assert read.magnitude() == pytest.approx(magnitude, abs=1e-6)


def test_the_same_snippet_on_qwen2_5_turns_yarn_off_from_4_50_on() -> None:
    """Longest and original length are equal there, so the factor is 1; 4.43 is right by luck."""
    assert Read(STACK, KNOWN["qwen2.5-7b-yarn"], "4.50").multipliers(*PAIRS) == pytest.approx([1] * len(PAIRS))
    assert Read(STACK, KNOWN["qwen2.5-7b-yarn"], "4.50").magnitude() == 1
    older = Read(STACK, KNOWN["qwen2.5-7b-yarn"], "4.43")
    assert older.multipliers(*PAIRS) == pytest.approx(RAMP_OF_32768_BY_4, abs=1e-6)


def test_truncate_counts_from_4_55_on() -> None:
    """Pairs 8, 9, 12, 13, 16, 17, 18 of gpt-oss: unrounded ends, then rounded ones."""
    pairs = (8, 9, 12, 13, 16, 17, 18)
    exact = (1, 0.905551, 0.593227, 0.489119, 0.176795, 0.072688, 0.03125)
    rounded = (1, 0.903125, 0.612500, 0.515625, 0.225000, 0.128125, 0.03125)
    newer, older = (Read(STACK, KNOWN["gpt-oss-20b"], version) for version in ("4.55", "4.50"))
    assert newer.multipliers(*pairs) == pytest.approx(exact, abs=1e-6)
    assert older.multipliers(*pairs) == pytest.approx(rounded, abs=1e-6)
    assert "always rounded" in older.ignored["rope_scaling.truncate"]


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("qwen3-8b-attention-factor", "4.50", 1.0),
        ("qwen3-8b-attention-factor", "4.43", 1.0),
        ("qwen3-8b-mscale-pair", "4.50", 1.0),
        ("qwen3-8b-mscale-pair", "4.43", 1.138629),
        ("qwen3-8b-mscale", "4.50", 1.022314),
    ],
)
def test_the_factor_on_cos_and_sin(name: str, version: str, expected: float) -> None:
    assert Read(STACK, KNOWN[name], version).magnitude() == pytest.approx(expected, abs=1e-6)


def test_a_factor_below_one_shrinks_logits_before_4_50() -> None:
    """0.1 ln(0.5) + 1, without the later guard."""
    config = {**LLAMA, "rope_scaling": {"rope_type": "yarn", "factor": 0.5}}
    assert Read(STACK, config, "4.43").magnitude() == pytest.approx(0.930685, abs=1e-6)
    assert Read(STACK, config, "4.50").magnitude() == 1


def test_a_file_saved_by_version_5_loses_base_and_scaling() -> None:
    read = Read(STACK, KNOWN["qwen3-8b-saved-by-v5"])
    assert (read.layer().rule, read.layer().base) == ("default", 10_000)
    assert {"rope_parameters.rope_theta", "rope_parameters.factor"} <= set(read.ignored)


@pytest.mark.parametrize(("kind", "expected"), [("llama", "linear"), ("mistral", "yarn")])
def test_type_is_copied_over_rope_type_in_classes_that_do_so(kind: str, expected: str) -> None:
    config = {**LLAMA, "model_type": kind, "rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 2.0}}
    assert Read(STACK, config).layer().rule == expected


def test_the_rotated_share_counts_for_every_kind_of_scaling() -> None:
    """Version 5 takes it for Llama only where something scales."""
    assert Read(STACK, {**LLAMA, "partial_rotary_factor": 0.25}).layer().rotary_dim == 32
    scaled = {**LLAMA, "partial_rotary_factor": 0.25, "rope_scaling": {"type": "linear", "factor": 2.0}}
    assert Read(STACK, scaled).layer().rotary_dim == 32
    assert Read(STACK, KNOWN["pythia-1b"]).layer().rotary_dim == 64
    assert Read(STACK, KNOWN["gpt-j-6b"]).layer().rotary_dim == 64


def test_gemma3_has_a_local_base_beside_its_scaled_one() -> None:
    read = Read(STACK, KNOWN["gemma-3-4b"])
    assert read.multipliers(0, 127, kind="full_attention") == pytest.approx([0.125, 0.125])
    assert read.multipliers(0, 127, kind="sliding_attention") == [1, 1]
    assert (read.layer("full_attention").base, read.layer("sliding_attention").base) == (1e6, 1e4)


def test_dynamic_scaling_follows_the_sequence() -> None:
    """The base at 8,192 tokens of a model of 4,096, factor 4, width 128: 51,293.787."""
    config = {**LLAMA, "rope_scaling": {"type": "dynamic", "factor": 4.0}}
    assert Read(STACK, config).multipliers(63, length=4096) == pytest.approx([1])
    assert Read(STACK, config).multipliers(63, length=8192) == pytest.approx([0.2], rel=1e-6)


def test_longrope_switches_with_the_sequence() -> None:
    read = Read(STACK, KNOWN["phi-3-mini-128k"])
    assert read.multipliers(0, length=4096) == pytest.approx([1])
    assert read.multipliers(0, length=4097) == pytest.approx([1 / 1.1])
    assert read.magnitude() == pytest.approx(1.190238, abs=1e-6)
    assert read.keys()["original length"] == "original_max_position_embeddings"


def test_longrope_beside_an_original_length_ignores_its_factor() -> None:
    phi = KNOWN["phi-3-mini-128k"]
    read = Read(STACK, {**phi, "rope_scaling": {**phi["rope_scaling"], "factor": 2.0}})
    assert read.magnitude() == pytest.approx(1.190238, abs=1e-6)
    assert "longest / original" in read.ignored["rope_scaling.factor"]


def test_longrope_without_an_original_length_beside_the_block_needs_a_factor() -> None:
    lists = {"short_factor": [1.0] * 64, "long_factor": [2.0] * 64, "original_max_position_embeddings": 1024}
    block = {"rope_type": "longrope", **lists}
    assert "TypeError" in Read(STACK, {**LLAMA, "rope_scaling": block}).reading.refusal
    assert Read(STACK, {**LLAMA, "rope_scaling": {**block, "factor": 4.0}}).multipliers(0, length=4096) == [1]


def test_softmax_of_deepseek() -> None:
    assert Read(STACK, KNOWN["deepseek-v3"]).layer().softmax == pytest.approx(1.873854, abs=1e-6)
    lite = Read(STACK, KNOWN["deepseek-v2-lite"]).layer()
    assert lite.softmax == 1
    assert "mscale_all_dim" in lite.notes[0]


@pytest.mark.parametrize("name", ["gemma-4-text", "ministral-3"])
def test_models_of_version_5_are_not_there(name: str) -> None:
    assert "transformers 5" in Read(STACK, KNOWN[name]).reading.absent


@pytest.mark.parametrize("kind", ["su", "ntk", "proportional"])
def test_an_unknown_kind_ends_with_key_error(kind: str) -> None:
    assert "KeyError" in Read(STACK, {**LLAMA, "rope_scaling": {"type": kind, "factor": 2.0}}).reading.refusal


def test_provenance() -> None:
    read = Read(STACK, KNOWN["qwen3-8b-yarn"], "4.50")
    keys = read.keys()
    assert keys["factor"] == "rope_scaling.original_max_position_embeddings"
    assert keys["base"] == "rope_theta"
    assert "longest / original" in read.ignored["rope_scaling.factor"]
    older = Read(STACK, KNOWN["qwen3-8b-yarn"], "4.43")
    assert "max_position_embeddings" in older.ignored["rope_scaling.original_max_position_embeddings"]


@pytest.mark.parametrize("version", ["4.55", "4.50", "4.43"])
def test_a_remedy_brings_yarn_of_the_card_about(version: str) -> None:
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "rope_theta": 1e6}
    wanted = Wanted("qwen3", "yarn", 1e6, 131072, 128, 128, 4.0, 32768, block)
    found = []
    for remedy in STACK.remedies(Given("made", config=KNOWN["qwen3-8b-yarn"]), wanted):
        assert "config.json" in remedy.text
        read = Read(STACK, remedy.after.config or {}, version)
        found.append(read.multipliers(*PAIRS) == pytest.approx(RAMP_OF_32768_BY_4, abs=1e-6))
    assert any(found)


def test_known_configs_read_without_an_exception() -> None:
    for version in STACK.versions:
        for config in KNOWN.values():
            read = Read(STACK, config, version.name).reading
            assert read.serves or read.absent, read.refusal


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_hostile_values_end_with_layers_or_a_sentence(version: str) -> None:
    assert 0.05 < endured(STACK, version, hostile_configs()) < 0.95


def test_standardised_keeps_what_the_block_says() -> None:
    config: dict[str, Any] = {**LLAMA, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 2.0}}
    block = standardised(config).blocks[0]
    assert block.values == {"factor": 2.0, "rope_type": "linear", "rope_theta": 5e5}
    assert block.origins["rope_type"] == "rope_scaling.type"
