"""PE104: the tokenizer's limit against the usable rows."""

from typing import Any

import pytest

from gnomon.adapters.subject import Absent, Subject
from gnomon.doctor import run
from tests.helpers.subjects import claim, value


def subject(limit: Any, **options: Any) -> Subject:
    return Subject("folder", tokenizer={"model_max_length": limit}, claims=(claim("learned", **options),))


def test_a_limit_beyond_the_usable_rows_is_found() -> None:
    result = run("PE104", subject(514, max_length=512, rows=514, padding_offset=2))
    [finding] = result.findings
    assert (result.severity, finding.where) == ("warning", "tokenizer_config.json")
    assert finding.message == "model_max_length is 514 but the table serves 512 positions"
    assert finding.fix == "set model_max_length to 512"
    assert value(result, "tokenizer model_max_length") == 514


@pytest.mark.parametrize(("limit", "status"), [(1, "passed"), (512, "passed"), (513, "failed"), (513.0, "failed")])
def test_the_limit_may_equal_the_usable_rows(limit: float, status: str) -> None:
    assert run("PE104", subject(limit, max_length=512)).status == status


@pytest.mark.parametrize("limit", [None, "512", int(1e30), 1e30, float("nan")])
def test_a_tokenizer_without_a_limit_is_not_applicable(limit: Any) -> None:
    result = run("PE104", subject(limit, max_length=512))
    assert (result.status, result.detail) == ("not-applicable", "the tokenizer states no model_max_length")


def test_a_claim_without_a_length_is_not_a_pass() -> None:
    result = run("PE104", subject(512))
    assert (result.status, result.detail) == ("not-applicable", "the config states no length for a learned table")


def test_a_model_without_a_learned_table_is_not_applicable() -> None:
    subject = Subject("folder", tokenizer={"model_max_length": 9}, claims=(claim("alibi", num_heads=2),))
    assert run("PE104", subject).detail == "the config claims no learned encoding"


def test_without_a_tokenizer_the_reason_is_passed_on() -> None:
    result = run("PE104", Subject("x", tokenizer=Absent("a module has no tokenizer"), claims=()))
    assert (result.status, result.detail) == ("not-applicable", "a module has no tokenizer")
