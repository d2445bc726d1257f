"""Megatron-LM through Megatron-Bridge: numbers fixed in code, the pair that counts unless null, kinds passed over."""

from typing import Any

import numpy as np
import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.megatron import Megatron
from tests.helpers.hostile_configs import endured, hostile_configs, sane
from tests.helpers.stack_readings import KNOWN, Read

STACK = Megatron()
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 2,
    "max_position_embeddings": 4096,
}
PAIRS = (23, 24, 28, 32, 36, 39, 40, 41, 63)
#: YaRN multipliers of width 128, base 1e6, original length 32768 by 4, from the paper's formula
BY_4 = (1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25)


def test_yarn_takes_the_factor_of_the_file() -> None:
    for name in ("qwen2.5-7b-yarn", "qwen3-8b-yarn", "qwen3-8b-saved-by-v5"):
        assert Read(STACK, KNOWN[name]).multipliers(*PAIRS) == pytest.approx(BY_4, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("qwen3-8b-yarn", 1.138629),
        ("qwen3-8b-attention-factor", 1.138629),
        ("qwen3-8b-mscale", 1.098011),
        ("qwen3-8b-mscale-pair", 1.0),
        ("deepseek-v3", 1.0),
    ],
)
def test_the_factor_on_cos_and_sin(name: str, expected: float) -> None:
    """g(4) without the pair, its ratio where both are given, be one of them 0; `attention_factor` is not read."""
    assert Read(STACK, KNOWN[name]).magnitude() == pytest.approx(expected, abs=1e-6)


def test_llama_3s_numbers_are_fixed_but_for_the_factor() -> None:
    """Llama 4 says 1 and 1: 35 pairs kept and 29 divided; with 1 and 4 it is 29, 6 and 29, off by up to 0.8676."""
    read = Read(STACK, KNOWN["llama-4-scout"])
    found = np.array(read.multipliers(kind="layers with rotation"))
    assert (int(np.isclose(found, 1, rtol=1e-12).sum()), int(np.isclose(found, 1 / 16, rtol=1e-12).sum())) == (29, 29)
    wanted = np.where(np.arange(64) < 35, 1.0, 1 / 16)
    assert np.abs(found / wanted - 1).max() == pytest.approx(0.8676, abs=1e-4)
    assert "fixed" in read.ignored["text_config.rope_scaling.high_freq_factor"]


def test_llama_3_itself_fits_the_fixed_numbers() -> None:
    found = Read(STACK, KNOWN["llama-3.1-8b"]).multipliers(29, 30, 31, 32, 33, 34)
    assert found == pytest.approx([0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211], abs=1e-6)


def test_gpt_oss_is_hard_coded() -> None:
    """32 from 4,096 tokens with unrounded ends, whatever the file says."""
    expected = (1, 0.905551, 0.593227, 0.489119, 0.176795, 0.072688, 0.03125)
    block = {**KNOWN["gpt-oss-20b"]["rope_scaling"], "factor": 8.0, "truncate": True}
    for config in (KNOWN["gpt-oss-20b"], {**KNOWN["gpt-oss-20b"], "rope_scaling": block}):
        read = Read(STACK, config)
        assert read.multipliers(8, 9, 12, 13, 16, 17, 18) == pytest.approx(expected, abs=1e-6)
    assert "fixed in the bridge" in read.ignored["rope_scaling.factor"]


def test_linear_scaling_was_dropped_before_pr_5097() -> None:
    assert Read(STACK, KNOWN["llama-2-7b-linear"]).multipliers(0) == [0.25]
    assert Read(STACK, KNOWN["llama-2-7b-linear"], "before-5097").multipliers(0) == [1]


def test_gemma3_scales_its_full_layers_only() -> None:
    read = Read(STACK, KNOWN["gemma-3-4b"])
    assert read.multipliers(0, kind="full_attention") == pytest.approx([0.125])
    assert read.multipliers(0, kind="sliding_attention") == [1]


@pytest.mark.parametrize("block", [{"type": "dynamic", "factor": 4.0}, {"type": "ntk", "factor": 4.0}])
def test_other_kinds_are_plain_without_a_word(block: dict[str, Any]) -> None:
    read = Read(STACK, {**LLAMA, "rope_scaling": block})
    assert read.layer().rule == "default"
    assert read.multipliers(63, length=100_000) == pytest.approx([1])
    assert "passed over" in read.ignored["rope_scaling.factor"]


def test_softmax_of_deepseek() -> None:
    for name, expected in (("deepseek-v3", 1.873854), ("deepseek-v2-lite", 1.589626)):
        assert Read(STACK, KNOWN[name]).layer().softmax == pytest.approx(expected, abs=1e-6)


def test_yarn_turns_the_whole_head() -> None:
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}
    config = {**LLAMA, "partial_rotary_factor": 0.5, "rope_scaling": block}
    assert Read(STACK, config).layer().rotary_dim == 128


@pytest.mark.parametrize("name", ["phi-4-mini", "falcon-7b", "pythia-1b", "smollm3-3b", "command-r"])
def test_bridges_that_were_not_traced(name: str) -> None:
    assert "not traced" in Read(STACK, KNOWN[name]).reading.absent


def test_remedies_name_the_flags_that_work() -> None:
    def texts(rule: str, block: dict[str, Any], factor: float) -> list[str]:
        wanted = Wanted("llama", rule, 5e5, 131072, 128, 128, factor, 8192, {"rope_type": rule, **block})
        return [remedy.text for remedy in STACK.remedies(Given("made", config=LLAMA), wanted)]

    linear = texts("linear", {"factor": 4.0}, 4.0)
    assert linear[0] == "--rotary-base 500000 --rotary-seq-len-interpolation-factor 4"
    usual = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    assert "--use-rope-scaling --rope-scaling-factor 8" in texts("llama3", {**usual, "factor": 8.0}, 8.0)[0]
    # Issue 6305: 8 is used whatever the flag says.
    assert "config.json" in texts("llama3", {**usual, "factor": 32.0}, 32.0)[0]


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_known_and_hostile_configs_end_with_layers_or_a_sentence(version: str) -> None:
    for config in KNOWN.values():
        sane(Read(STACK, config, version).reading)
    assert 0.05 < endured(STACK, version, hostile_configs()) < 0.95
