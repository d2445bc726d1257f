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
