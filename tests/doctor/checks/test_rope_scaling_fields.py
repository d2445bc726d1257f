"""PE102: the scaling block of a config."""

import math
from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import value

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0, 1.1], "long_factor": [1.0, 4.0]}


def judge(block: Any, **config: Any) -> CheckResult:
    return run("PE102", Subject("config", config={"rope_scaling": block, **config}))


@pytest.mark.parametrize("key", sorted(set(LLAMA3) - {"rope_type"}))
def test_each_missing_key_of_llama3_is_named(key: str) -> None:
    result = judge({k: v for k, v in LLAMA3.items() if k != key})
    [finding] = result.findings
    assert (finding.where, finding.message) == ("rope_scaling", f"llama3 scaling has no {key}")
    assert key in finding.fix
    assert (result.severity, value(result, "problems in scaling blocks")) == ("error", 1)


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn"])
def test_scaling_without_a_factor_is_found_under_either_spelling_of_the_kind(kind: str) -> None:
    for key in ("type", "rope_type"):
        assert [f.message for f in judge({key: kind}).findings] == [f"{kind} scaling has no factor"]


@pytest.mark.parametrize("kind", ["longrope", "su"])
def test_longrope_needs_both_lists(kind: str) -> None:
    messages = [f.message for f in judge({"type": kind}).findings]
    assert messages == [f"{kind} scaling has no short_factor", f"{kind} scaling has no long_factor"]


@pytest.mark.parametrize("factor", [0.999, 0.0, -2.0, math.nan, math.inf, "4", True, [2.0]])
def test_an_impossible_factor_is_named(factor: Any) -> None:
    [finding] = judge({"rope_type": "linear", "factor": factor}).findings
    assert finding.message == f"factor is {factor!r}, not a number of at least 1"
    assert finding.fix == "write new length / trained length"


@pytest.mark.parametrize("factor", [1.0, 1, 4.0, 32])
def test_a_factor_of_at_least_1_passes(factor: float) -> None:
    assert judge({"rope_type": "linear", "factor": factor}).status == "passed"


@pytest.mark.parametrize("kind", ["nonesuch", 3, ["linear"], {"a": 1}])
def test_an_unknown_kind_is_named_whatever_it_is(kind: Any) -> None:
    if isinstance(kind, dict):
        block = {"rope_type": "nonesuch", "nested": kind}
        assert judge(block).status == "passed", "a mapping inside makes it a block for each kind of layer"
        return
    [finding] = judge({"rope_type": kind, "factor": 2}).findings
    assert finding.message == f"the scaling kind {kind!r} is unknown"
    assert "llama3" in finding.fix


@pytest.mark.parametrize(
    "block",
    [
        LLAMA3,
        LONGROPE,
        {"type": "su", "short_factor": [1.0], "long_factor": [2]},
        {"rope_type": "default", "rope_theta": 1e6},
        {"type": "mrope", "mrope_section": [16, 24, 24]},
        {"rope_type": "proportional", "rope_theta": 1e6},
        {"rope_type": "dynamic", "factor": 2.0, "alpha": 1000},
        {"rope_type": None, "type": "linear", "factor": 2.0},
    ],
)
def test_published_blocks_pass(block: dict[str, Any]) -> None:
    result = judge(block)
    assert (result.status, value(result, "problems in scaling blocks")) == ("passed", 0)


def test_a_required_key_may_stand_beside_the_block() -> None:
    block = {k: v for k, v in LLAMA3.items() if k != "original_max_position_embeddings"}
    assert judge(block, original_max_position_embeddings=8192).status == "passed"


@pytest.mark.parametrize(("high", "status"), [(1.0, "passed"), (0.5, "failed"), (1.001, "passed")])
def test_the_bands_of_llama3_must_not_cross(high: float, status: str) -> None:
    result = judge({**LLAMA3, "high_freq_factor": high})
    assert result.status == status
    if status == "failed":
        assert result.findings[0].message == f"low_freq_factor 1.0 is above high_freq_factor {high}"


def test_the_ramp_of_yarn_must_not_be_turned_around() -> None:
    [finding] = judge({"rope_type": "yarn", "factor": 4, "beta_fast": 1, "beta_slow": 32}).findings
    assert finding.message == "beta_fast 1 is below beta_slow 32"


@pytest.mark.parametrize(("longest", "status"), [(16384, "passed"), (16540, "passed"), (16560, "failed")])
def test_the_factor_of_yarn_agrees_with_the_lengths_to_one_percent(longest: int, status: str) -> None:
    block = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}
    result = judge(block, max_position_embeddings=longest)
    assert result.status == status
    if status == "failed":
        assert result.severity == "warning"
        assert "factor is 4.0 but" in result.findings[0].message
        assert "is 4.04297" in result.findings[0].message


@pytest.mark.parametrize("key", ["short_factor", "long_factor"])
@pytest.mark.parametrize("bad", [2.0, [1.0, "2"], [1.0, -1.0], [1.0, 0], "12"])
def test_longrope_factors_are_lists_of_positive_numbers(key: str, bad: Any) -> None:
    [finding] = judge({**LONGROPE, key: bad}).findings
    assert finding.message == f"{key} is not a list of positive numbers"


def test_longrope_lists_have_one_length() -> None:
    [finding] = judge({**LONGROPE, "long_factor": [1.0, 2.0, 3.0]}).findings
    assert finding.message == "short_factor has 2 numbers but long_factor has 3"


def test_blocks_of_layer_kinds_and_of_towers_are_found_where_they_stand() -> None:
    kinds = {"full_attention": {"rope_type": "linear"}, "sliding_attention": {"rope_type": "default"}}
    config = {"text_config": {"rope_parameters": kinds}}
    result = run("PE102", Subject("config", config=config))
    assert [f.where for f in result.findings] == ["text_config.rope_parameters.full_attention"]


@pytest.mark.parametrize("config", [{}, {"rope_scaling": None, "rope_theta": 1e4}])
def test_a_config_without_a_block_is_not_applicable(config: dict[str, Any]) -> None:
    result = run("PE102", Subject("config", config=config))
    assert (result.status, result.detail) == (
        "not-applicable",
        "the config has no rope_scaling and no rope_parameters",
    )


def test_without_a_config_it_is_not_applicable() -> None:
    assert run("PE102", Subject("nothing")).detail == "no config"


@pytest.mark.parametrize("kind", ["linear", "dynamic", "yarn"])
def test_a_cap_that_stayed_at_the_trained_length_is_told_what_it_should_be(kind: str) -> None:
    block = {"rope_type": kind, "factor": 2.0, "original_max_position_embeddings": 131_072}
    [finding] = judge(block, max_position_embeddings=131_072).findings
    assert finding.severity == "warning"
    assert finding.fix.startswith("set max_position_embeddings to 262144 ")
    assert judge(block, max_position_embeddings=262_144).status == "passed"


def test_the_factor_of_llama3_is_not_the_ratio_of_its_lengths_but_there_must_be_one() -> None:
    assert judge(LLAMA3, max_position_embeddings=131_072).status == "passed"
    for longest in (8192, 4096):
        [finding] = judge(LLAMA3, max_position_embeddings=longest).findings
        assert "nothing is scaled" in finding.message


YARN = {"rope_type": "yarn", "factor": 16.0}


@pytest.mark.parametrize(
    ("pair", "numbers"),
    [
        # g(k) = 0.1 k ln 16 + 1; transformers takes g(1) where one of them is missing, DeepSeek's code g(m) / g(m_all)
        ({"mscale": 0.707}, ("1.27726", "1.19602")),
        ({"mscale_all_dim": 1.0}, ("1.27726", "1.00000")),
        ({"mscale": 1.0}, None),
        ({"mscale": 0.707, "mscale_all_dim": 0.707}, None),
        ({"mscale": 0.707, "attention_factor": 1.0}, None),
        ({"mscale_all_dim": 0}, None),
        ({"mscale": "1"}, None),
    ],
)
def test_one_mscale_without_the_other_is_two_models(pair: dict[str, Any], numbers: tuple[str, str] | None) -> None:
    findings = judge({**YARN, **pair}).findings
    assert len(findings) == (numbers is not None)
    for number in numbers or ():
        assert number in findings[0].message


@pytest.mark.parametrize("given", [0, -1.0, "1", True, math.inf])
def test_an_attention_factor_is_a_number_above_0(given: Any) -> None:
    assert f"attention_factor is {given!r}" in judge({**YARN, "attention_factor": given}).findings[0].message


@pytest.mark.parametrize(("share", "status"), [(1.0, "passed"), (0, "passed"), (64.0, "failed"), (-1, "failed")])
def test_the_share_of_extrapolation_is_at_most_1(share: float, status: str) -> None:
    assert judge({**YARN, "extrapolation_factor": share}).status == status


def test_a_ramp_of_one_step_passes() -> None:
    assert judge({**YARN, "beta_fast": 4, "beta_slow": 4}).status == "passed"


SHORT, LONG = [1.0, 1.1, 1.2], [1.0, 4.0, 32.0]


def test_longrope_lists_that_are_exchanged_are_a_warning() -> None:
    block = {"type": "longrope", "short_factor": LONG, "long_factor": SHORT, "original_max_position_embeddings": 4096}
    result = judge(block)
    assert result.severity == "warning"
    assert "the two lists seem exchanged" in result.findings[0].message
    assert judge({**block, "short_factor": SHORT, "long_factor": LONG}).status == "passed"
    assert judge({**block, "short_factor": SHORT, "long_factor": SHORT}).status == "passed", "MiniCPM 4: both alike"


def test_longrope_without_the_length_that_was_trained_is_a_warning() -> None:
    block = {"type": "longrope", "short_factor": SHORT, "long_factor": LONG}
    result = judge(block, max_position_embeddings=131072)
    assert result.severity == "warning"
    assert "take max_position_embeddings (131072) for it never use long_factor" in result.findings[0].message
    stated = judge(block, max_position_embeddings=131072, original_max_position_embeddings=4096)
    assert stated.status == "passed", "Phi-3 states it beside the block"
