"""PE702: scaling that short texts do not need."""

from typing import Any

import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from tests.helpers.healthy import FOREIGN
from tests.helpers.subjects import rotary_claim
from tests.helpers.toys import examine, only_finding


def rotary(lengths: list[int], **rule: Any) -> Subject:
    found = rotary_claim(8, **rule)
    stated = type(found)(found.kind, found.where, {**found.options, "stated_length": 4096})
    return Subject("x", claims=(stated,), lengths=lengths)


def test_static_scaling_over_short_texts_is_noted() -> None:
    result = run("PE702", rotary([100, 900], kind="yarn", factor=4.0, original_max_length=1024))
    finding = only_finding(result)
    assert result.severity == "note"
    assert finding.measured["original length"] == 1024
    assert "yarn by 4" in finding.message


def test_long_texts_need_it() -> None:
    assert run("PE702", rotary([100, 1025], kind="yarn", factor=4.0, original_max_length=1024)).status == "passed"


def test_without_an_original_length_the_stated_one_is_taken_for_the_longer() -> None:
    assert run("PE702", rotary([1024], kind="linear", factor=4.0)).status == "failed"
    assert run("PE702", rotary([1025], kind="linear", factor=4.0)).status == "passed"


@pytest.mark.parametrize("name", ["llama", "llama, dynamic", "phi3, longrope"])
def test_rules_that_leave_short_texts_alone_are_not_judged(name: str) -> None:
    assert examine("PE702", FOREIGN[name](), lengths=[5]).status == "not-applicable"
