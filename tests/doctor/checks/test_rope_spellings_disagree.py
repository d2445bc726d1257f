"""PE101: one config that states a rotary setting twice."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import value

NAME = "settings stated twice that differ"


def judge(**config: Any) -> CheckResult:
    return run("PE101", Subject("config", config=config))


def test_two_bases_are_named_with_their_keys() -> None:
    result = judge(rope_theta=10_000.0, rope_parameters={"rope_type": "default", "rope_theta": 500_000.0})
    [finding] = result.findings
    assert (result.status, result.severity) == ("failed", "error")
    assert finding.message.startswith("rope_theta says 10000.0 but rope_parameters.rope_theta says 500000.0")
    assert finding.fix == "write the trained rope_theta under both rope_theta and rope_parameters.rope_theta"
    assert value(result, NAME) == 1


@pytest.mark.parametrize(
    ("config", "second"),
    [
        ({"rope_scaling": {"type": "linear", "rope_type": "dynamic", "factor": 2}}, "rope_scaling.rope_type"),
        (
            {"rope_scaling": {"rope_type": "yarn"}, "rope_parameters": {"rope_type": "linear"}},
            "rope_parameters.rope_type",
        ),
        ({"rope_scaling": {"factor": 4}, "rope_parameters": {"factor": 8}}, "rope_parameters.factor"),
        (
            {"partial_rotary_factor": 0.5, "rope_parameters": {"partial_rotary_factor": 0.25}},
            "rope_parameters.partial_rotary_factor",
        ),
    ],
)
def test_each_setting_that_can_be_stated_twice_is_compared(config: dict[str, Any], second: str) -> None:
    [finding] = judge(**config).findings
    assert second in finding.measured


def test_the_config_of_a_tower_is_read_too() -> None:
    result = judge(text_config={"rope_theta": 1e4, "rope_parameters": {"rope_theta": 1e6}})
    assert set(result.findings[0].measured) == {"text_config.rope_theta", "text_config.rope_parameters.rope_theta"}


def test_equal_statements_pass() -> None:
    result = judge(rope_theta=5e5, rope_parameters={"rope_theta": 500_000, "rope_type": "default"})
    assert (result.status, value(result, NAME)) == ("passed", 0)


@pytest.mark.parametrize(("other", "status"), [(1.0 + 5e-7, "passed"), (1.0 + 5e-6, "failed")])
def test_numbers_are_equal_up_to_one_in_a_million(other: float, status: str) -> None:
    assert judge(rope_theta=1e4, rope_parameters={"rope_theta": 1e4 * other}).status == status


def test_bases_of_several_kinds_of_layers_are_not_two_statements_of_one() -> None:
    kinds = {"full_attention": {"rope_theta": 1e6}, "sliding_attention": {"rope_theta": 1e4}}
    assert judge(rope_theta=1e4, rope_parameters=kinds).status == "not-applicable"


@pytest.mark.parametrize("config", [{}, {"hidden_size": 8}, {"rope_theta": 1e4}])
def test_a_config_that_states_nothing_twice_is_not_applicable(config: dict[str, Any]) -> None:
    result = judge(**config)
    assert (result.status, result.detail) == ("not-applicable", "the config states no rotary setting twice")


def test_without_a_config_it_is_not_applicable() -> None:
    result = run("PE101", Subject("nothing"))
    assert (result.status, result.detail) == ("not-applicable", "no config")


HEAD = {"hidden_size": 64, "num_attention_heads": 4}  # 16 lanes


@pytest.mark.parametrize(
    ("config", "status"),
    [
        ({"rotary_dim": 8, "partial_rotary_factor": 0.5}, "passed"),
        ({"rotary_dim": 8, "partial_rotary_factor": 1.0}, "failed"),
        ({"rotary_ndims": 4, "rotary_pct": 0.25}, "passed"),
        ({"rotary_ndims": 4, "rotary_pct": 0.5}, "failed"),
        ({"rotary_dim": 4, "rotary_ndims": 8}, "failed"),
        ({"rotary_dim": 8, "rope_parameters": {"partial_rotary_factor": 0.25}}, "failed"),
        ({"rotary_dim": 8, "rope_parameters": {"rope_type": "proportional", "partial_rotary_factor": 0.25}}, None),
    ],
)
def test_a_count_of_lanes_and_a_share_of_the_head_are_compared(config: dict[str, Any], status: str | None) -> None:
    assert judge(**HEAD, **config).status == (status or "not-applicable")


def test_lanes_are_named_for_both_statements() -> None:
    [finding] = judge(**HEAD, rotary_dim=8, partial_rotary_factor=1.0).findings
    assert finding.measured == {"rotary_dim": 8, "partial_rotary_factor": 16}


@pytest.mark.parametrize(
    ("flat", "kind"),
    [
        ("rope_local_base_freq", "sliding_attention"),
        ("local_rope_theta", "sliding_attention"),
        ("global_rope_theta", "full_attention"),
    ],
)
def test_the_bases_of_kinds_of_layers_are_compared_with_their_old_keys(flat: str, kind: str) -> None:
    kinds = {kind: {"rope_theta": 1e6}}
    assert judge(**{flat: 1e6}, rope_parameters=kinds).status == "passed"
    [finding] = judge(**{flat: 1e4}, rope_parameters=kinds).findings
    assert finding.measured == {flat: 1e4, f"rope_parameters.{kind}.rope_theta": 1e6}


def test_the_trained_length_beside_the_block_and_in_it_are_compared() -> None:
    block = {"rope_type": "longrope", "original_max_position_embeddings": 4096}
    assert judge(original_max_position_embeddings=4096, rope_scaling=block).status == "passed"
    [finding] = judge(original_max_position_embeddings=8192, rope_scaling=block).findings
    assert finding.message.startswith("original_max_position_embeddings says 8192 but rope_scaling.")
