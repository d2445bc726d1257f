"""What counts as a number of a file, within bounds that have names."""

import math
from typing import Any

import pytest

from gnomon.resolving.rules.numbers import EXACT, HUGE, SIGNED, between, finite, required
from gnomon.resolving.stopping import StackStops


@pytest.mark.parametrize("value", [True, False, "1", None, [1], math.nan, math.inf, -math.inf, 10**400])
def test_what_is_no_number_is_within_no_bounds(value: Any) -> None:
    assert not finite(value)
    assert not between(value, -math.inf, math.inf)
    with pytest.raises(StackStops, match=r"a\.b is .*, which is no length"):
        required(value, "a.b", "length")


@pytest.mark.parametrize(
    ("value", "low", "high", "inside"),
    [(0, 0, 1, False), (1, 0, 1, False), (0.5, 0, 1, True), (-HUGE, -HUGE, HUGE, False), (2**62, 0, SIGNED, True)],
)
def test_bounds_are_left_out(value: float, low: float, high: float, inside: bool) -> None:
    assert between(value, low, high) == inside


def test_a_number_within_is_a_float() -> None:
    found = required(EXACT - 1, "n", low=0, high=EXACT)
    assert (type(found), found) == (float, 2.0**53 - 1)
