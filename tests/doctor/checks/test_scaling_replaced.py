"""PE109: the scaling of the original against that of an extended or converted config."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.report.document import CheckResult
from tests.helpers.gallery_configs import LLAMA3, llama_config
from tests.helpers.subjects import value

NATIVE = llama_config(rope_theta=5e5, rope_scaling=LLAMA3, max_position_embeddings=131_072)
LINEAR = llama_config(rope_scaling={"type": "linear", "factor": 2.0}, max_position_embeddings=8192)


def judge(before: dict[str, Any], now: dict[str, Any]) -> CheckResult:
    return run("PE109", Subject("config", config=now, reference=before))


@pytest.mark.parametrize("now", [None, {}])
def test_a_wiped_scaling_is_found(now: Any) -> None:
    [finding] = judge(NATIVE, {**NATIVE, "rope_scaling": now}).findings
    assert finding.message == "llama3 scaling by 8 was the original's scaling, and this config has none"


def test_another_kind_is_found_and_the_native_one_named_with_its_base() -> None:
    [finding] = judge(NATIVE, {**NATIVE, "rope_scaling": {"type": "linear", "factor": 2.0}}).findings
    assert finding.message.startswith("llama3 scaling by 8 was replaced by linear scaling by 2")
    assert finding.fix == "keep the kind llama3 with base 500000 and its other numbers"


def test_a_kind_that_needs_no_training_may_be_replaced_with_a_warning() -> None:
    dynamic = llama_config(rope_scaling={"type": "dynamic", "factor": 2.0})
    assert judge(dynamic, LINEAR).severity == "warning"


@pytest.mark.parametrize(("factor", "status"), [(4.0, "failed"), (7.9, "failed"), (8.0, "passed"), (16.0, "passed")])
def test_factors_count_from_the_original_length(factor: float, status: str) -> None:
    now = llama_config(rope_scaling={"type": "linear", "factor": factor}, max_position_embeddings=32_768)
    result = judge(LINEAR, now)
    assert result.status == status
    if status == "failed":
        assert result.findings[0].measured["needed"] == 32_768 / (8192 / 2)


def test_the_original_length_may_not_move() -> None:
    moved = {**LLAMA3, "original_max_position_embeddings": 131_072}
    [finding] = judge(NATIVE, {**NATIVE, "rope_scaling": moved}).findings
    assert finding.measured == {"before": 8192, "now": 131_072}


def test_a_factor_that_was_lowered_is_found_where_lengths_do_not_say_it() -> None:
    [finding] = judge(NATIVE, {**NATIVE, "rope_scaling": {**LLAMA3, "factor": 4.0}}).findings
    assert finding.measured["needed"] == 8


def test_a_first_extension_is_held_against_the_growth_of_the_length() -> None:
    plain = llama_config(rope_theta=1e4)
    now = llama_config(rope_theta=1e4, rope_scaling={"type": "linear", "factor": 2.0}, max_position_embeddings=16_384)
    result = judge(plain, now)
    assert (result.severity, result.findings[0].fix) == ("warning", "write factor: 4, or state 8192 positions")
    assert judge(plain, {**now, "max_position_embeddings": 8192}).status == "passed"


def test_a_first_extension_that_does_not_lengthen_is_not_counted() -> None:
    plain = llama_config(rope_theta=1e4)
    block = {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 4096}
    assert judge(plain, {**plain, "rope_scaling": block}).status == "passed"
    llama3 = {**plain, "rope_scaling": LLAMA3, "max_position_embeddings": 131_072}
    assert judge(plain, llama3).status == "passed", "its factor is not the ratio of the lengths"


def test_the_same_scaling_in_the_new_spelling_passes() -> None:
    now = llama_config(rope_parameters={**LLAMA3, "rope_theta": 5e5}, max_position_embeddings=131_072)
    result = judge(NATIVE, now)
    assert (result.status, value(result, "scalings of the reference that are not kept")) == ("passed", 0)


def test_kinds_of_layers_keep_their_own() -> None:
    full = {"full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6}}
    plain = {"full_attention": {"rope_type": "default", "rope_theta": 1e6}}
    before = llama_config(rope_parameters=full, layer_types=["full_attention"] * 2)
    assert judge(before, before).status == "passed"
    assert judge(before, {**before, "rope_parameters": plain}).status == "failed"


def test_without_any_scaling_or_reference_it_is_not_applicable() -> None:
    assert judge(llama_config(), llama_config()).status == "not-applicable"
    assert run("PE109", Subject("config", config=NATIVE)).status == "not-applicable"
