"""CTranslate2: where its converter finds the base, which kinds it takes, and its whole-number ratio of lengths."""

import math
from typing import Any

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.reading import Wanted
from gnomon.resolving.stacks.ct2 import CTranslateTwo
from tests.helpers.hostile_configs import endured, hostile_configs, sane
from tests.helpers.stack_readings import KNOWN, Read

STACK = CTranslateTwo()
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_attention_heads": 2,
    "max_position_embeddings": 4096,
}


def test_a_base_beside_the_block_is_lost_through_transformers_4() -> None:
    older, newer = (Read(STACK, KNOWN["llama-3.1-8b"], f"4.8-hf{number}") for number in (4, 5))
    assert (older.layer().base, newer.layer().base) == (10_000, 5e5)
    assert "not looked for" in older.ignored["rope_theta"]
    assert newer.keys()["base"] == "rope_theta"


def test_without_a_block_the_base_is_found_through_both() -> None:
    for version in STACK.versions:
        assert Read(STACK, KNOWN["codellama-7b"], version.name).layer().base == 1e6


def test_a_base_in_the_block_is_taken() -> None:
    block = {"type": "linear", "factor": 4.0, "rope_theta": 5e5}
    read = Read(STACK, {**LLAMA, "rope_theta": 1e6, "rope_scaling": block}, "4.8-hf4")
    assert read.layer().base == 5e5
    assert read.multipliers(0) == [0.25]


@pytest.mark.parametrize("kind", ["yarn", "dynamic", "ntk", "proportional"])
def test_kinds_that_are_not_implemented(kind: str) -> None:
    config = {**LLAMA, "rope_scaling": {"rope_type": kind, "factor": 2.0}}
    assert "NotImplementedError" in Read(STACK, config).reading.refusal


def test_type_comes_before_rope_type() -> None:
    config = {**LLAMA, "rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 2.0}}
    assert Read(STACK, config).layer().rule == "linear"


def test_longrope_takes_the_whole_number_of_longest_over_original() -> None:
    """10,000 over 4,096 tokens counts as 2; the long list comes once the tables have grown past 4,096."""
    config = {**KNOWN["phi-3-mini-128k"], "max_position_embeddings": 10_000}
    read = Read(STACK, config)
    assert read.magnitude() == pytest.approx(math.sqrt(1 + math.log(2) / math.log(4096)), rel=1e-12)
    assert read.multipliers(0, length=4096) == pytest.approx([1])
    assert read.multipliers(0, length=4097) == pytest.approx([1 / 1.1])
    assert "tables" in read.layer().schedule.switch


def test_partial_longrope_does_not_fit() -> None:
    assert "64 pairs" in Read(STACK, KNOWN["phi-4-mini"]).reading.refusal


def test_gemma3_keeps_its_bases_and_loses_its_factor() -> None:
    read = Read(STACK, KNOWN["gemma-3-4b"])
    assert read.multipliers(0, kind="full_attention") == [1]
    assert [read.layer(kind).base for kind in ("full_attention", "sliding_attention")] == [1e6, 1e4]
    assert "two bases" in read.ignored["text_config.rope_scaling.factor"]


def test_gpt_j_is_turned_in_halves_after_its_rows_were_moved() -> None:
    layer = Read(STACK, KNOWN["gpt-j-6b"]).layer()
    assert (layer.layout, layer.rotary_dim) == ("half", 64)
    assert "halves" in layer.permuted
    assert not Read(STACK, KNOWN["pythia-1b"]).layer().permuted


def test_another_base_of_gpt_neox_was_not_traced() -> None:
    assert Read(STACK, KNOWN["pythia-1b"]).layer().base == 10_000
    assert "not traced" in Read(STACK, {**KNOWN["pythia-1b"], "rotary_emb_base": 25_000}).reading.absent


@pytest.mark.parametrize("name", ["mixtral-8x7b", "deepseek-v3", "gemma-4-text", "gpt-oss-20b", "command-r"])
def test_models_that_are_not_there(name: str) -> None:
    assert Read(STACK, KNOWN[name]).reading.absent


def test_remedies_put_the_base_into_the_block() -> None:
    block = dict(KNOWN["llama-3.1-8b"]["rope_scaling"])
    wanted = Wanted("llama", "llama3", 5e5, 131072, 128, 128, 8.0, 8192, block)
    found = [
        Read(STACK, remedy.after.config or {}, "4.8-hf4").layer()
        for remedy in STACK.remedies(Given("made", config=KNOWN["llama-3.1-8b"]), wanted)
    ]
    assert ("llama3", 5e5) in [(layer.rule, layer.base) for layer in found]


def test_there_is_no_remedy_for_yarn() -> None:
    block = {"rope_type": "yarn", "factor": 4.0}
    wanted = Wanted("llama", "yarn", 1e4, 16384, 128, 128, 4.0, 4096, block)
    assert list(STACK.remedies(Given("made", config=LLAMA), wanted)) == []


@pytest.mark.parametrize("version", [version.name for version in STACK.versions])
def test_known_and_hostile_configs_end_with_layers_or_a_sentence(version: str) -> None:
    for config in KNOWN.values():
        sane(Read(STACK, config, version).reading)
    assert 0.05 < endured(STACK, version, hostile_configs()) < 0.95
