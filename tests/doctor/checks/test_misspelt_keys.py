"""PE117: keys that nothing reads for the want of a letter."""

from typing import Any

import pytest

from gnomon.adapters.checkpoints.huggingface import config_evidence
from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult


def judge(**config: Any) -> CheckResult:
    return run("PE117", Subject("config", **config_evidence({"model_type": "llama", **config})))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("rope_thetha", "rope_theta"),
        ("rope_tehta", "rope_theta"),
        ("ropeTheta", "rope_theta"),
        ("Rope_Theta", "rope_theta"),
        ("rope-scaling", "rope_scaling"),
        ("rope_scalling", "rope_scaling"),
        ("max_postion_embeddings", "max_position_embeddings"),
        ("max_positions_embeddings", "max_position_embeddings"),
        ("partial_rotary_facter", "partial_rotary_factor"),
        ("no_rope_layer", "no_rope_layers"),
        ("relative_attention_num_bucket", "relative_attention_num_buckets"),
    ],
)
def test_a_misspelt_key_is_named_with_the_one_that_readers_look_for(key: str, meant: str) -> None:
    [finding] = judge(**{key: 8}).findings
    assert (finding.where, finding.fix) == (key, f"rename {key} to {meant}")


def test_beside_the_right_one_it_is_left_alone() -> None:
    assert judge(rope_theta=1e4, rope_thetha=1e6).status == "passed"


@pytest.mark.parametrize("key", ["rotary_base", "rope_base", "rope_freq_base", "rotary_percent", "rope_factor"])
def test_the_words_of_other_programs_are_translated_for_rotary_families(key: str) -> None:
    assert judge(**{key: 0.5}).status == "failed"
    assert judge(model_type="bert", **{key: 0.5}).status == "passed"
    assert judge(rope_parameters={"rope_theta": 1e4}, **{key: 0.5}).status == "passed"


@pytest.mark.parametrize(
    "key",
    [
        *("layer_type", "sliding_windows", "position_embeddings_type", "qk_nope_head_dim", "hidden_sizes"),
        *("max_2d_position_embeddings", "num_position_embeddings", "rope_data", "rope_alpha", "conv_layers"),
    ],
)
def test_keys_of_other_families_and_other_words_pass(key: str) -> None:
    assert judge(**{key: 1}).status == "passed"


def test_a_tower_is_read_too() -> None:
    assert [f.where for f in judge(text_config={"rope_thetha": 1e6}).findings] == ["text_config.rope_thetha"]


def test_a_key_without_a_value_says_nothing() -> None:
    assert judge(rope_thetha=None).status == "passed"


def test_an_empty_config_is_not_applicable() -> None:
    assert run("PE117", Subject("config", config={})).detail == "the config is empty"
