"""Claims 11, 12 and 17."""

import pytest
import torch

from gnomon.lab.claims.tables import raises
from tests.helpers.claims import measure, verdict


def test_the_recipe_fits_what_a_log_normal_says() -> None:
    """1.1 times the 95th percentile of exp(6 + z / 2) is its quantile Phi(1.645 + 2 ln 1.1) = Phi(1.836) = 0.967."""
    numbers = measure(11)
    normal = torch.distributions.Normal(0.0, 1.0)
    expected = float(normal.cdf(normal.icdf(torch.tensor(0.95)) + 2 * torch.tensor(1.1).log()))
    assert numbers["texts that fit"] == pytest.approx(expected, abs=0.004)
    assert 0.1 < numbers["rows / longest"] < 0.9
    assert numbers["std of the line"] == pytest.approx(1.0, abs=0.02)
    assert numbers["std of Learned"] == pytest.approx(0.02, abs=0.0004)
    assert verdict(11, numbers) == "holds"
    assert verdict(11, {**numbers, "texts that fit": (0.97, 0.94)}) == "fails"


def test_the_row_after_the_last_is_an_index_error() -> None:
    numbers = measure(12)
    assert numbers == {"index error": 1.0, "memory error": 0.0, "PositionError": 1.0}
    assert verdict(12, numbers) == "fails"
    assert verdict(12, {"index error": 0.0, "memory error": 1.0, "PositionError": 1.0}) == "holds"


def test_widths_that_differ_are_refused_and_a_projection_fits() -> None:
    numbers = measure(17)
    assert set(numbers.values()) == {1.0}
    assert verdict(17, numbers) == "holds"
    assert verdict(17, {**numbers, "refused with both widths": 0.0}) == "fails"


def test_raises_tells_kinds_of_errors_apart() -> None:
    def index() -> None:
        raise IndexError

    assert raises(IndexError, index) == 1.0
    assert raises(MemoryError, index) == 0.0
    assert raises(IndexError, lambda: None) == 0.0
