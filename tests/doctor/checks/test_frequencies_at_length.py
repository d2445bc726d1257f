"""PE413: frequencies that should depend on the length of the text are those of another length."""

import pytest
from torch import Tensor

from tests.helpers.gallery_decoding import Returning as Plain
from tests.helpers.gallery_decoding import tokens
from tests.helpers.gallery_scaling import DynamicRotary, dynamic_llama
from tests.helpers.healthy import MODELS
from tests.helpers.toys import examine, only_finding


class NeverGrows(DynamicRotary):
    def growth(self, length: int) -> float:
        return 1.0


class GrowsTooEarly(DynamicRotary):
    """Takes the length of the call as if a call had twice as many tokens."""

    def length(self, position_ids: Tensor) -> int:
        return 2 * super().length(position_ids)


def test_a_long_text_with_the_frequencies_of_a_short_one_is_found() -> None:
    result = examine("PE413", dynamic_llama(NeverGrows))
    finding = only_finding(result)
    assert result.severity == "error"
    assert finding.where == "layers.*.attention"
    assert finding.message.endswith("dynamic scaling of 64 gives it; they are those of a text of 64 tokens")
    assert finding.fix == "take the length from the positions of the call, here 128: the scaled frequencies beyond 64"


def test_both_sides_of_the_original_length_are_looked_at() -> None:
    findings = examine("PE413", dynamic_llama(GrowsTooEarly)).findings
    assert [f.measured["length"] for f in findings] == [64, 128]


@pytest.mark.parametrize("name", ["llama, dynamic", "phi3, longrope"])
def test_rules_that_follow_the_length_pass(name: str) -> None:
    result = examine("PE413", MODELS[name]())
    assert result.status == "passed", (result.detail, result.findings)
    assert {m.threshold for m in result.measured} == {0.02}


def test_a_hand_written_rule_that_is_right_passes() -> None:
    assert examine("PE413", dynamic_llama(DynamicRotary)).status == "passed"


@pytest.mark.parametrize("name", ["llama", "llama, yarn"])
def test_fixed_frequencies_are_not_judged(name: str) -> None:
    result = examine("PE413", MODELS[name]())
    assert result.detail == "no claimed frequencies depend on the length of the text"


def test_a_model_that_claims_nothing_is_not_judged() -> None:
    assert examine("PE413", tokens(Plain())).status == "not-applicable"
