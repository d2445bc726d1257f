"""`assert_healthy`: one line in a team's suite; it fails with the report, and not for what is known."""

from pathlib import Path

import pytest
from torch import nn

from gnomon.doctor import diagnose
from gnomon.report.baseline import write_baseline
from gnomon.testing import UnhealthyModelError, assert_healthy
from tests.mutation.models import TutorialEncoder, all_zero, healthy_encoder, once, sign_flipped, sinusoids


def test_a_healthy_model_gives_its_report() -> None:
    report = assert_healthy(healthy_encoder(), select="PE2,PE302")
    assert report.ok
    assert report.summary["passed"] > 1


def test_a_fault_fails_the_test_with_the_whole_report() -> None:
    with pytest.raises(UnhealthyModelError, match="the sine columns have the wrong sign") as raised:
        assert_healthy(sign_flipped(), select="PE203")
    assert raised.value.report.failed[0].code == "PE203"
    assert isinstance(raised.value, AssertionError)


def test_what_the_baseline_lists_is_no_reason_to_fail(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_text(write_baseline(diagnose(sign_flipped(), select="PE203")))
    assert assert_healthy(sign_flipped(), select="PE203", baseline=path).ok
    with pytest.raises(UnhealthyModelError):
        assert_healthy(all_zero(), select="PE206", baseline=path)


def test_an_examination_in_which_nothing_applied_is_no_success() -> None:
    with pytest.raises(UnhealthyModelError, match="None of"):
        assert_healthy(healthy_encoder(), select="PE101")


def test_warnings_fail_when_they_are_asked_to() -> None:
    assert assert_healthy(trainable_sinusoid(), select="PE210").ok
    with pytest.raises(UnhealthyModelError):
        assert_healthy(trainable_sinusoid(), select="PE210", severity="warning")


def trainable_sinusoid() -> nn.Module:
    return TutorialEncoder(sinusoids(), once, learned=True)
