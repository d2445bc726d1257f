"""PE115: switches that turn on more than one encoding."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult


def judge(**config: Any) -> CheckResult:
    return run("PE115", Subject("config", config=config))


@pytest.mark.parametrize(
    "config",
    [
        {"attn_config": {"alibi": True, "rope": True}},
        {"use_alibi": True, "position_embedding_type": "rotary"},
        {"alibi": True, "use_rotary_embedding": True},
    ],
)
def test_alibi_and_rotary_together_are_an_error(config: dict[str, Any]) -> None:
    result = judge(**config)
    assert (result.status, result.severity) == ("failed", "error")
    assert "ALiBi" in result.findings[0].message
    assert "rotary" in result.findings[0].message


def test_absolute_and_another_are_a_warning() -> None:
    result = judge(position_embedding_type="absolute", use_rotary=True)
    assert (result.severity, result.findings[0].fix) == (
        "warning",
        "keep the one that the weights were trained with: drop position_embedding_type: absolute or use_rotary",
    )


def test_scaling_beside_alibi_is_read_by_nobody() -> None:
    [finding] = judge(alibi=True, rope_scaling={"type": "linear", "factor": 2.0}).findings
    assert (finding.severity, finding.where) == ("warning", "rope_scaling")


@pytest.mark.parametrize(
    "config",
    [
        {"alibi": False, "use_rotary": True},
        {"alibi": True, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},  # Falcon, as saved by 5.24
        {"attn_config": {"alibi": True, "rope": False}},
        {"position_embedding_type": "relative_key", "use_absolute_position_embeddings": True},
        {"position_embedding_type": ["rotary"], "alibi": True},
    ],
)
def test_one_encoding_passes(config: dict[str, Any]) -> None:
    assert judge(**config).status == "passed"


@pytest.mark.parametrize("config", [{}, {"alibi": False}, {"rope_theta": 1e4}, {"position_embedding_type": "sine"}])
def test_without_a_switch_it_is_not_applicable(config: dict[str, Any]) -> None:
    assert judge(**config).status == "not-applicable"


def test_the_part_of_the_config_is_named() -> None:
    both = {"alibi": True, "use_rotary": True}
    assert judge(**both).findings[0].where == "config.json"
    assert judge(text_config=both).findings[0].where == "text_config"
