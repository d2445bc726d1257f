"""PE116: rotary settings beside the language model's config."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult

LINEAR = {"type": "linear", "factor": 2.0}


def judge(inside: dict[str, Any], name: str = "text_config", **top: Any) -> CheckResult:
    return run("PE116", Subject("config", config={**top, name: {"hidden_size": 8, **inside}}))


@pytest.mark.parametrize("name", ["text_config", "llm_config", "language_config"])
def test_a_scaling_at_the_top_is_sent_inside(name: str) -> None:
    result = judge({}, name, rope_scaling=LINEAR)
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", "rope_scaling")
    assert finding.fix.startswith(f"write {name}.rope_scaling: {{'type': 'linear'")


@pytest.mark.parametrize("key", ["rope_theta", "partial_rotary_factor", "max_position_embeddings"])
def test_another_value_at_the_top_is_named_with_the_one_that_is_read(key: str) -> None:
    [finding] = judge({key: 1}, "text_config", **{key: 2}).findings
    assert f"text_config.{key} is 1" in finding.message


@pytest.mark.parametrize(
    ("inside", "top"),
    [
        ({"rope_scaling": LINEAR}, {"rope_scaling": LINEAR}),
        ({"rope_parameters": LINEAR}, {"rope_scaling": LINEAR}),
        ({"rope_parameters": {"rope_theta": 5.0}}, {"rope_theta": 5.0}),
        ({"rope_theta": 5.0}, {"rope_theta": None}),
        ({}, {"rope_scaling": {}}),
        ({"rope_theta": 5.0}, {}),
    ],
)
def test_copies_and_nothing_pass(inside: dict[str, Any], top: dict[str, Any]) -> None:
    assert judge(inside, **top).status == "passed"


def test_a_model_whose_whole_rotates_too_is_left_alone() -> None:
    assert judge({"rope_theta": 1.0}, model_type="musicflamingo", rope_theta=1200.0).status == "passed"


def test_a_config_of_one_model_is_not_applicable() -> None:
    assert run("PE116", Subject("config", config={"rope_scaling": LINEAR})).status == "not-applicable"
