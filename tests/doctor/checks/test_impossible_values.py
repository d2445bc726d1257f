"""A config whose numbers cannot be is refused by its text, whatever a reader would make of it."""

from typing import Any

import pytest

from gnomon.adapters.subject import Absent, Subject
from gnomon.doctor import run
from tests.helpers.healthy import FOREIGN

GOOD: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 32,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "rope_theta": 1e4,
    "rope_scaling": None,
    "partial_rotary_factor": 1.0,
}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", "32"),
        ("hidden_size", True),
        ("num_attention_heads", 0),
        ("num_attention_heads", 1.5),
        ("max_position_embeddings", -5),
        ("rope_theta", "10000"),
        ("rope_theta", 1),
        ("rope_theta", 0),
        ("rope_theta", float("nan")),
        ("rope_theta", float("inf")),
        ("partial_rotary_factor", 1.5),
        ("partial_rotary_factor", 0),
        ("rope_theta", "1e4"),
        ("rope_scaling", "linear"),
        ("rope_scaling", [1]),
        ("no_rope_layers", 4),
    ],
)
def test_each_impossible_value_is_named(key: str, value: Any) -> None:
    result = run("PE105", Subject("x", config={**GOOD, key: value}))
    [finding] = result.findings
    assert (result.status, result.severity) == ("failed", "error")
    assert finding.message.startswith(f"{key} is {value!r}; it must be ")


def test_blocks_of_kinds_of_layers_are_read_too() -> None:
    blocks = {"full_attention": {"rope_type": "default", "rope_theta": "1e6"}, "sliding_attention": {"rope_theta": 1e4}}
    [finding] = run("PE105", Subject("x", config={**GOOD, "rope_parameters": blocks})).findings
    assert finding.message.startswith("rope_parameters.full_attention.rope_theta is '1e6'")


def test_possible_values_pass_and_no_config_is_not_applicable() -> None:
    assert run("PE105", Subject("x", config=GOOD)).status == "passed"
    assert run("PE105", Subject("x", config=FOREIGN["gemma3"]().config.to_dict())).status == "passed"  # type: ignore[union-attr, operator]
    assert run("PE105", Subject("x", config={})).status == "not-applicable"
    assert run("PE105", Subject("x", config=Absent("no config"))).detail == "no config"


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("num_attention_heads", [1, 2, 5, 8]),  # SegFormer: one for each stage
        ("head_dim", 0),  # GLM: it follows from other widths
        ("max_position_embeddings", 1200.0),  # Music Flamingo
        ("sliding_window", -1),
        ("sliding_window", [0, 512]),
        ("sliding_window_pattern", "LLLG"),
        ("no_rope_layers", []),
    ],
)
def test_values_that_published_families_write_pass(key: str, given: Any) -> None:
    assert run("PE105", Subject("x", config={**GOOD, key: given})).status == "passed"


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("num_attention_heads", [1, 0]),
        ("num_attention_heads", []),
        ("head_dim", -1),
        ("max_position_embeddings", 1200.5),
        ("sliding_window", True),
        ("sliding_window", 512.5),
        ("no_rope_layer_interval", {}),
    ],
)
def test_what_only_looks_like_them_does_not(key: str, given: Any) -> None:
    assert run("PE105", Subject("x", config={**GOOD, key: given})).status == "failed"


def test_a_number_for_the_layers_without_rotation_is_sent_to_the_key_for_it() -> None:
    [finding] = run("PE105", Subject("x", config={**GOOD, "no_rope_layers": 4})).findings
    assert "no_rope_layer_interval: n" in finding.fix


def test_one_family_counts_heads_in_its_factor() -> None:
    config = {**GOOD, "partial_rotary_factor": 4.0}
    assert run("PE105", Subject("x", config={**config, "model_type": "efficientloftr"})).status == "passed"
    assert run("PE105", Subject("x", config=config)).status == "failed"


def test_a_switch_written_as_text_is_found() -> None:
    result = run("PE105", Subject("config", config={"model_type": "mpt", "attn_config": {"alibi": "true"}}))
    assert result.findings[0].message == "attn_config.alibi is 'true'; it must be true or false"


def test_a_kind_of_positions_that_bert_does_not_know_is_found() -> None:
    for kind, status in (("relative", "failed"), ("relative_key", "passed"), ("absolute", "passed"), (None, "passed")):
        config = {"model_type": "bert", "hidden_size": 32, "position_embedding_type": kind}
        assert run("PE105", Subject("config", config=config)).status == status, kind
    other = {"model_type": "esm", "hidden_size": 32, "position_embedding_type": "rotary"}
    assert run("PE105", Subject("config", config=other)).status == "passed"
