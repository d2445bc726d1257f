"""PE705: the share of padding."""

import numpy as np
import pytest

from gnomon.adapters.subject import Subject
from gnomon.doctor import run
from gnomon.doctor.checks.padding_waste import expected_longest
from tests.helpers.subjects import value
from tests.helpers.toys import only_finding


def test_the_expected_longest_is_that_of_many_draws() -> None:
    lengths = np.array([1, 5, 5, 40, 300])
    draws = np.random.default_rng(0).choice(lengths, (200_000, 8)).max(axis=1)
    assert expected_longest(lengths, 8) == pytest.approx(draws.mean(), rel=0.01)


def test_a_few_long_inputs_among_short_ones_are_noted() -> None:
    result = run("PE705", Subject("x", lengths=[10] * 7 + [400]))
    finding = only_finding(result)
    assert result.severity == "note"
    assert finding.measured["mean"] == 58.75
    assert value(result, "padding when all are padded to the longest input") == pytest.approx(1 - 58.75 / 400, abs=1e-4)


def test_like_lengths_pass() -> None:
    result = run("PE705", Subject("x", lengths=[100, 110, 120]))
    assert (result.status, result.severity) == ("passed", "note")


def test_empty_inputs_are_not_judged() -> None:
    assert run("PE705", Subject("x", lengths=[0, 0])).detail == "every length is 0"
