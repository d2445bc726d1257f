"""Remedies are read again before they are told; without one, what brings the stack much nearer."""

from typing import Any

import pytest

from gnomon.report.resolved.document import Mend
from gnomon.resolving import resolve
from gnomon.resolving.given import Given
from gnomon.resolving.stack import registry
from gnomon.resolving.telling.mending import mended, wanted
from gnomon.resolving.telling.words import sentences
from tests.helpers.small_stacks import GPT_OSS, side_by_side
from tests.helpers.stack_readings import KNOWN

OLDEST = {"vllm": registry.get("vllm").versions[-1].name, "sglang": registry.get("sglang").versions[-1].name}

YARN = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}


def config(**values: Any) -> Given:
    return Given("a config", config={**GPT_OSS, **values})


def test_the_first_remedy_that_makes_them_agree_is_told_and_none_that_does_not() -> None:
    assert mended(side_by_side(config(), "rounds"), config()) == Mend("add exact: true for yarn 32")
    assert mended(side_by_side(config(), "stops"), config()) == Mend("add exact: true for yarn 32")
    assert mended(side_by_side(config(), "plain"), config()) == Mend()
    assert mended(side_by_side(config(), "obeys"), config()) is None
    assert mended(side_by_side(config(), "absent"), config()) is None
    assert mended(side_by_side(config(), "rounds", "stops"), config()) is None


def test_what_brings_a_stack_much_nearer_is_told_with_what_is_left() -> None:
    """An edit after which the ends of the ramp are still exact leaves 24 instead of 69 radians or so."""
    compared = side_by_side(config(rope_scaling={**YARN, "truncate": True}), "deaf", "obeys")
    found = mended(compared, config(rope_scaling={**YARN, "truncate": True}))
    assert found is not None
    assert (found.text, found.nearest) == ("", "add heard: true")
    assert found.left.startswith("pair 17 is off by 43%")  # 0.072688 of its speed where 0.128125 is wanted
    said = sentences(compared, None, found)[-1]
    assert "that gnomon knows. Nearest (pair 17 is off by 43%" in said
    assert said.endswith("): add heard: true")


def test_what_is_wanted_is_what_the_reference_computes_in_the_words_of_transformers_5() -> None:
    found = wanted(config(), side_by_side(config(), "obeys").reference, 131072)
    assert found is not None
    assert (found.model_type, found.rule, found.base, found.cap) == ("gpt_oss", "yarn", 150000, 131072)
    assert (found.head_dim, found.rotary_dim, found.factor, found.original) == (64, 64, 32.0, 4096)
    assert found.block is not None
    assert found.block["truncate"] is False


def test_nothing_is_wanted_by_senseless_numbers() -> None:
    for factor in (1e308, -1.0):
        given = config(rope_scaling={**YARN, "factor": factor})
        assert wanted(given, side_by_side(config(), "obeys").reference, 131072) is None


@pytest.mark.parametrize(
    ("name", "stack", "said"),
    [
        ("qwen3-8b-attention-factor", "megatron", '"mscale"'),  # 2.9: the ratio of a pair that is not null
        ("qwen3-8b-mscale", "megatron", "without"),
        ("qwen3-8b-mscale-pair", "exllama3", '"attention_factor": 1.0'),  # 2.11: the pair counts in DeepSeek only
    ],
)
def test_a_factor_on_cos_and_sin_can_be_said_in_another_way(name: str, stack: str, said: str) -> None:
    column = resolve(KNOWN[name], stacks=stack).column(stack)
    assert column.mend is not None
    assert column.mend.possible
    assert said in column.mend.text or '"mscale"' not in column.mend.text


def test_llama_cpp_takes_the_ends_of_the_ramp_by_flags() -> None:
    """2.4c: 32 and 1 unless the flags say otherwise; the keys are not read in most architectures."""
    config = KNOWN["qwen3-8b-yarn"]
    block = {**config["rope_scaling"], "beta_fast": 64.0, "beta_slow": 2.0}
    column = resolve({**config, "rope_scaling": block}, stacks="llama.cpp").column("llama.cpp")
    assert column.verdict == "differs"
    assert column.mend is not None
    assert "--yarn-beta-fast 64 --yarn-beta-slow 2" in column.mend.text
    plain = resolve(KNOWN["qwen3-8b-attention-factor"], stacks="llama.cpp").column("llama.cpp")
    assert plain.mend is not None
    assert "beta" not in plain.mend.text


@pytest.mark.parametrize(
    ("stack", "variable"),
    [("vllm", "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1"), ("sglang", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN=1")],
)
def test_a_length_above_the_cap_needs_a_word_in_the_environment(stack: str, variable: str) -> None:
    """2.1, 2.2: a longer server is refused without it; at the cap itself nothing is needed."""
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768, "attention_factor": 1.0}
    qwen = {**KNOWN["qwen3-8b-yarn"], "rope_scaling": block, "max_position_embeddings": 131072}

    def mend(served: int) -> Mend | None:
        return resolve(qwen, stacks=f"{stack}@{OLDEST[stack]}", served=served).columns[1].mend

    within, beyond = mend(131072), mend(262144)
    assert within is not None
    assert beyond is not None
    assert within.possible
    assert variable not in within.text
    assert "262144" in beyond.text
    if stack == "vllm":  # SGLang's remedy writes the length into the file
        assert beyond.text.endswith(f"with {variable} in the environment")
