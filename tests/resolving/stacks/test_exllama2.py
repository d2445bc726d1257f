"""ExLlamaV2: tables for the length that was asked for, a block at the top only, and kinds that pass silently."""

from typing import Any

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.exllama2 import ExLlamaTwo
from tests.helpers.hostile_configs import endured, hostile_configs, sane
from tests.helpers.stack_readings import KNOWN, Read

STACK = ExLlamaTwo()
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 2,
    "max_position_embeddings": 4096,
}
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
#: YaRN multipliers of width 128 and base 1e6 by 4 with turns counted in 131,072 tokens, from the paper's formula
RAMP_OF_131072 = (1, 1, 1, 0.911765, 0.735294, 0.602941, 0.558824, 0.514706, 0.25)


@pytest.mark.parametrize("name", ["qwen2.5-7b-yarn", "qwen3-8b-yarn"])
def test_yarn_counts_turns_in_the_length_asked_for(name: str) -> None:
    read = Read(STACK, KNOWN[name], served=131072)
    assert read.multipliers(*PAIRS) == pytest.approx(RAMP_OF_131072, abs=1e-6)
    assert read.magnitude() == pytest.approx(1.138629, abs=1e-6)


def test_yarn_is_off_up_to_the_original_length() -> None:
    read = Read(STACK, KNOWN["qwen3-8b-yarn"], served=32768)
    assert read.multipliers() == pytest.approx([1] * 64)
    assert read.magnitude() == 1


def test_kinds_stood_under_one_name_each_before_qwen_3() -> None:
    """`rope_type: yarn` was passed over then, as was `type: llama3`."""
    assert Read(STACK, KNOWN["qwen3-8b-yarn"], "c64d65a", served=131072).layer().rule == "default"
    assert Read(STACK, KNOWN["qwen2.5-7b-yarn"], "c64d65a", served=131072).layer().rule == "yarn"
    assert Read(STACK, KNOWN["llama-3.1-8b"], "c64d65a").layer().rule == "llama3"
    assert Read(STACK, KNOWN["mixtral-8x7b"], "c64d65a").layer().base == 1e6


def test_both_names_at_once_are_an_assertion_error() -> None:
    block = {"type": "linear", "rope_type": "linear", "factor": 2.0}
    assert "AssertionError" in Read(STACK, {**LLAMA, "rope_scaling": block}).reading.refusal


@pytest.mark.parametrize("kind", ["dynamic", "ntk", "proportional", "default"])
def test_unknown_kinds_are_plain_without_a_word(kind: str) -> None:
    read = Read(STACK, {**LLAMA, "rope_scaling": {"type": kind, "factor": 2.0}})
    assert read.layer().rule == "default"
    assert "passed over" in read.ignored["rope_scaling.factor"]


def test_keys_that_are_fixed_in_the_code() -> None:
    block = {
        "type": "yarn",
        "factor": 4.0,
        "original_max_position_embeddings": 1024,
        "beta_fast": 16,
        "truncate": False,
    }
    read = Read(STACK, {**LLAMA, "rope_scaling": {**block, "attention_factor": 1.0}})
    assert read.magnitude() == pytest.approx(1.138629, abs=1e-6)
    ignored = read.ignored
    assert ignored["rope_scaling.beta_fast"] == "fixed in its code"
    assert "always rounded" in ignored["rope_scaling.truncate"]


def test_longrope_goes_by_the_length_asked_for() -> None:
    """List and magnitude: sqrt(1 + ln(4) / ln(4096)) at 16,384 tokens is 1.080123."""
    longer = Read(STACK, KNOWN["phi-3-mini-128k"], served=16384)
    assert longer.multipliers(0) == pytest.approx([1 / 1.1])
    assert longer.magnitude() == pytest.approx(1.080123, abs=1e-6)
    short = Read(STACK, KNOWN["phi-3-mini-128k"], served=4096)
    assert (short.multipliers(0), short.magnitude()) == ([1], 1)


def test_longrope_wants_its_original_length_at_the_top() -> None:
    assert "AssertionError" in Read(STACK, KNOWN["minicpm4-8b"]).reading.refusal


def test_a_head_turns_whole() -> None:
    """So Phi-4-mini's lists, made for three quarters of it, do not fit."""
    assert "64 pairs" in Read(STACK, KNOWN["phi-4-mini"]).reading.refusal
    assert Read(STACK, {**LLAMA, "partial_rotary_factor": 0.5}).layer().rotary_dim == 128


def test_qwen2_vl_keeps_its_frequencies_in_half_precision() -> None:
    read = Read(STACK, KNOWN["qwen2-vl-7b"])
    apart = max(abs(value - 1) for value in read.multipliers())
    assert 1e-4 < apart < 0.05
    assert "float16" in read.layer().notes[0]


def test_the_cap_is_the_first_of_its_keys() -> None:
    assert Read(STACK, KNOWN["command-r"]).reading.cap == 131072
    assert Read(STACK, {"model_type": "llama", "hidden_size": 256, "num_attention_heads": 2}).reading.cap == 2048


def test_a_file_saved_by_transformers_5_is_plain_with_a_default_base() -> None:
    read = Read(STACK, KNOWN["qwen3-8b-saved-by-v5"])
    assert (read.layer().rule, read.layer().base) == ("default", 10_000)
    assert "rope_parameters.factor" in read.ignored


@pytest.mark.parametrize("name", ["gemma-3-4b", "command-r7b", "glm-4-9b", "gpt-j-6b", "deepseek-v3"])
def test_what_is_not_there_or_was_not_traced(name: str) -> None:
    assert Read(STACK, KNOWN[name]).reading.absent


def test_remedies() -> None:
    linear = Wanted("llama", "linear", 1e4, 16384, 128, 128, 4.0, None, {"rope_type": "linear", "factor": 4.0})
    before = Given("made", config={**LLAMA, "rope_parameters": {"rope_type": "linear", "factor": 4.0}})
    first = next(iter(STACK.remedies(before, linear)))
    assert first.text == (
        'edit config.json: {"rope_theta": 10000.0, "rope_scaling": {"type": "linear", "factor": 4.0}}, '
        "without rope_parameters; start with -l 16384"
    )
    assert Read(STACK, first.after.config or {}).multipliers(0) == [0.25]
    yarn = Wanted("llama", "yarn", 1e4, 16384, 128, 128, 4.0, 4096, {"rope_type": "yarn", "factor": 4.0})
    [only] = STACK.remedies(before, yarn)  # -ry alone would leave rope_theta and the original length out
    assert '"type": "yarn"' in only.text


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_known_and_hostile_configs_end_with_layers_or_a_sentence(version: str) -> None:
    for config in KNOWN.values():
        sane(Read(STACK, config, version).reading)
    assert 0.05 < endured(STACK, version, hostile_configs()) < 0.95
    assert Read(STACK, LLAMA, served=0).reading.refusal
