"""LongRoPE by named choices: each choice against numbers worked out apart in float64."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.longrope import longrope, longrope_magnitude
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.stopping import StackStops

CHOICES = Choices(longrope_switch="sequence", longrope_ratio="factor or lengths")
PHI3 = Scaled(1e4, 4, longest=131072, original=4096, served=16384)
LISTS = {"short_factor": [1.0, 2.0], "long_factor": [4.0, 8.0]}


@pytest.mark.parametrize(
    ("choice", "length", "served", "long"),
    [
        ("sequence", 4096, 131072, False),
        ("sequence", 4097, 131072, True),
        ("served", 5, 131072, True),
        ("served", 5, 4096, False),
        ("always", 5, 5, True),
    ],
)
def test_longrope_switches_by_its_choice(choice: Any, length: int, served: int, long: bool) -> None:
    found = longrope(PHI3, Keys(LISTS), replace(CHOICES, longrope_switch=choice))
    divisors = LISTS["long_factor" if long else "short_factor"]
    assert found.at(length, served).inverse == pytest.approx(np.array([1.0, 0.01]) / divisors)


@pytest.mark.parametrize(
    ("choice", "values", "expected"),
    [
        ("factor or lengths", {}, 1.190238),
        ("factor or lengths", {"factor": 16.0}, 1.154701),  # sqrt(1 + ln 16 / ln 4096)
        ("factor or lengths", {"factor": 16.0, "attention_factor": 1.5}, 1.5),
        ("lengths", {"factor": 16.0, "attention_factor": 1.5}, 1.190238),
        ("whole lengths", {}, 1.190238),
    ],
)
def test_the_magnitude_of_longrope(choice: Any, values: dict[str, float], expected: float) -> None:
    found = longrope_magnitude(PHI3, Keys(values), replace(CHOICES, longrope_ratio=choice))
    assert found == pytest.approx(expected, abs=1e-6)


def test_whole_lengths_are_cut_down() -> None:
    over = replace(PHI3, longest=3.9 * 4096)
    found = longrope_magnitude(over, Keys({}), replace(CHOICES, longrope_ratio="whole lengths"))
    assert found == pytest.approx((1 + np.log(3) / np.log(4096)) ** 0.5)


def test_lists_that_are_missing() -> None:
    with pytest.raises(StackStops, match="longrope lacks"):
        longrope(PHI3, Keys({}), CHOICES)
