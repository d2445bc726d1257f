"""PE114: a number for each rotated pair."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.subjects import value

PHI3 = {"model_type": "phi3", "hidden_size": 3072, "num_attention_heads": 32}  # 96 lanes, 48 pairs


def longrope(count: int, **more: Any) -> dict[str, Any]:
    return {"type": "longrope", "short_factor": [1.0] * count, "long_factor": [2.0] * count, **more}


def judge(**config: Any) -> CheckResult:
    return run("PE114", Subject("config", config={**PHI3, **config}))


def test_the_factors_of_phi_3_mini_fit_its_head() -> None:
    result = judge(rope_scaling=longrope(48))
    assert (result.status, value(result, "rope_scaling.short_factor")) == ("passed", 48)


@pytest.mark.parametrize("count", [47, 64, 96])
def test_another_count_is_an_error(count: int) -> None:
    result = judge(rope_scaling=longrope(count))
    assert [f.measured for f in result.findings] == [{"found": count, "pairs": 48}] * 2
    assert result.severity == "error"


@pytest.mark.parametrize("beside", [True, False])
def test_the_rotated_share_counts_wherever_it_stands(beside: bool) -> None:
    share = {"partial_rotary_factor": 0.75}  # Phi-4 mini: 24 heads of 128
    sizes = {"num_attention_heads": 24, **(share if beside else {})}
    block = longrope(48, **({} if beside else share))
    assert judge(**sizes, rope_parameters=block).status == "passed"
    assert judge(num_attention_heads=24, rope_parameters=longrope(48)).status == "failed"


def test_latent_attention_rotates_a_part_of_its_own() -> None:
    assert judge(rope_scaling=longrope(16), qk_rope_head_dim=32).status == "passed"


@pytest.mark.parametrize(("sections", "status"), [([16, 24, 24], "passed"), ([16, 24, 23], "failed")])
def test_sections_add_up_to_the_pairs(sections: list[int], status: str) -> None:
    result = judge(head_dim=128, rope_scaling={"type": "mrope", "mrope_section": sections})
    assert result.status == status
    if status == "failed":
        assert result.findings[0].message == "mrope_section sums to 63, and a head has 64 rotated pairs"


@pytest.mark.parametrize("config", [{"rope_scaling": {"type": "linear", "factor": 2}}, {}])
def test_without_lists_it_is_not_applicable(config: dict[str, Any]) -> None:
    assert judge(**config).status == "not-applicable"


def test_without_the_width_of_a_head_it_is_not_applicable() -> None:
    assert run("PE114", Subject("config", config={"rope_scaling": longrope(4)})).status == "not-applicable"


@pytest.mark.parametrize("bad", [True, "1.0", None, 1e300])
def test_lists_of_other_things_are_not_counted(bad: Any) -> None:
    block = {"type": "mrope", "mrope_section": [24, 24, bad]}
    assert judge(rope_scaling=block).status == "not-applicable"


@pytest.mark.parametrize(("sections", "axes"), [([24, 24], 2), ([48], 1)])
def test_sections_for_fewer_than_three_axes_are_an_error(sections: list[int], axes: int) -> None:
    result = judge(rope_scaling={"type": "mrope", "mrope_section": sections})
    [finding] = result.findings
    assert (result.severity, finding.where) == ("error", "rope_scaling.mrope_section")
    assert f"names {axes} axes; positions have time, height and width" in finding.message
    assert judge(rope_scaling={"type": "mrope", "mrope_section": [16, 16, 16]}).status == "passed"
