"""DeepSpeed-FastGen: scaling dropped in silence, whole heads, and nothing at all beside transformers 5."""

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.fastgen import FastGen
from tests.helpers.hostile_configs import endured, hostile_configs, sane
from tests.helpers.stack_readings import KNOWN, Read

STACK = FastGen()


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen2.5-7b-yarn", "phi-3-mini-128k", "llama-2-7b-dynamic"])
def test_scaling_is_dropped_without_a_word(name: str) -> None:
    """DeepSpeed's discussion of #8341: a block in a kernel that takes a base only."""
    read = Read(STACK, KNOWN[name])
    assert read.layer().rule == "default"
    assert read.multipliers(length=100_000) == pytest.approx([1] * (read.layer().rotary_dim // 2))
    assert any("not read" in why for key, why in read.ignored.items() if key.startswith("rope_scaling."))


def test_the_base_of_the_file_is_taken() -> None:
    """DeepSpeed#4442: pair 16 of CodeLlama turns by 129.527 radians at position 4096, not by 409.6."""
    layer = Read(STACK, KNOWN["codellama-7b"]).layer()
    assert layer.schedule.at(1, 1).inverse[16] * 4096 == pytest.approx(129.527, abs=1e-3)


def test_falcons_base_is_fixed() -> None:
    read = Read(STACK, {**KNOWN["falcon-7b"], "rope_theta": 500042.0})
    assert read.layer().base == 10_000
    assert "10000" in read.ignored["rope_theta"]


def test_the_whole_head_of_phi_4_mini_turns() -> None:
    read = Read(STACK, KNOWN["phi-4-mini"])
    assert (read.layer().rotary_dim, read.layer().head_dim) == (128, 128)
    assert read.ignored["partial_rotary_factor"] == "the whole head turns"


@pytest.mark.parametrize("name", ["llama-2-7b", "qwen2.5-7b-yarn", "mixtral-8x7b"])
def test_beside_transformers_5_there_is_no_base(name: str) -> None:
    """DeepSpeed#8345: the base moved into a nested block."""
    assert "AttributeError" in Read(STACK, KNOWN[name], "hf5").reading.refusal


@pytest.mark.parametrize("name", ["qwen3-8b-yarn", "gemma-2-27b", "gpt-j-6b", "deepseek-v3"])
def test_models_that_are_not_there(name: str) -> None:
    assert Read(STACK, KNOWN[name]).reading.absent


def test_nothing_brings_scaling_about() -> None:
    wanted = Wanted("llama", "linear", 1e4, 16384, 128, 128, 4.0, None, {"rope_type": "linear", "factor": 4.0})
    assert list(STACK.remedies(Given("made", config=KNOWN["llama-2-7b-linear"]), wanted)) == []


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_known_and_hostile_configs_end_with_layers_or_a_sentence(version: str) -> None:
    for config in KNOWN.values():
        sane(Read(STACK, config, version).reading)
    assert (endured(STACK, version, hostile_configs()) > 0.05) == (version == "hf4")
