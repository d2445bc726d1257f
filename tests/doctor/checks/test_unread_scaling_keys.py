"""PE106: keys of a rotary block that have no effect."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import value

YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 4096}


def judge(block: dict[str, Any], **config: Any) -> CheckResult:
    return run("PE106", Subject("config", config={"rope_scaling": block, **config}))


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("orignal_max_position_embeddings", "original_max_position_embeddings"),
        ("original_max_positional_embeddings", "original_max_position_embeddings"),
        ("attention-factor", "attention_factor"),
        ("Beta_Fast", "beta_fast"),
        ("rope-theta", "rope_theta"),
    ],
)
def test_a_misspelt_key_is_named_with_the_one_that_is_meant(key: str, meant: str) -> None:
    [finding] = judge({**{k: v for k, v in YARN.items() if k != meant}, key: 1}).findings
    assert finding.fix == f"rename {key} to {meant}"
    assert (finding.severity, finding.where) == ("error", "rope_scaling")


def test_a_misspelt_key_beside_the_right_one_is_a_warning() -> None:
    [finding] = judge({**YARN, "factors": 8.0}).findings
    assert (finding.severity, finding.fix) == ("warning", "drop factors")


def test_a_key_like_no_other_is_a_note() -> None:
    [finding] = judge({**YARN, "quokka": True}).findings
    assert finding.severity == "note"
    assert "quokka" in finding.message


def test_a_factor_in_a_block_without_a_kind_is_lost_scaling() -> None:
    [finding] = judge({"factor": 8.0}).findings
    assert finding.severity == "error"
    assert finding.message.startswith("factor is 8.0 but the block names no kind")
    assert "linear" in finding.fix


def test_a_factor_of_the_default_kind_is_a_warning_and_a_factor_of_1_is_nothing() -> None:
    assert judge({"rope_type": "default", "factor": 8.0}).findings[0].severity == "warning"
    assert judge({"rope_type": "default", "factor": 1.0}).status == "passed"


def test_attn_factor_is_turned_into_the_attention_factor_that_it_stands_for() -> None:
    [finding] = judge({**YARN, "attn_factor": 0.5}).findings
    # 0.1 ln 4 + 1 = 1.138629 (arXiv:2309.00071, equation 22), multiplied by a half
    assert finding.fix == "write attention_factor: 0.569315 and drop attn_factor"
    assert "cos and sin stay at 1.13863" in finding.message
    assert finding.message.endswith("; SGLang and the authors' code multiply by it")
    assert "llama.cpp" not in finding.message  # it writes a number of its own over the key where YaRN is on


def test_attention_factor_replaces_and_attn_factor_beside_it_is_named() -> None:
    [finding] = judge({**YARN, "attn_factor": 0.5, "attention_factor": 1.0}).findings
    assert "attention_factor 1 replaces it" in finding.message
    assert finding.fix.startswith("write attention_factor: 1 ")


@pytest.mark.parametrize("block", [{**YARN, "attn_factor": 1}, {**YARN, "extrapolation_factor": 1.0}])
def test_a_multiplier_of_1_changes_nothing(block: dict[str, Any]) -> None:
    assert judge(block).status == "passed"


@pytest.mark.parametrize(
    "block",
    [
        YARN,
        {**YARN, "beta_fast": 32, "beta_slow": 1, "truncate": False, "mscale": 1.0, "mscale_all_dim": 1.0},
        {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [2.0], "attention_factor": 1.2},
        {"type": "mrope", "mrope_section": [16, 24, 24]},
        {"rope_type": "dynamic", "alpha": 1000.0, "factor": 1.0, "beta_fast": 32, "beta_slow": 1, "type": "dynamic"},
        {"rope_type": "nonesuch", "anything": 3},
    ],
)
def test_published_blocks_and_unknown_kinds_pass(block: dict[str, Any]) -> None:
    result = judge(block)
    assert (result.status, value(result, "keys of rotary blocks without effect")) == ("passed", 0)


def test_without_a_block_it_is_not_applicable() -> None:
    result = run("PE106", Subject("config", config={"rope_theta": 1e4}))
    assert (result.status, "no rope_scaling" in result.detail) == ("not-applicable", True)
