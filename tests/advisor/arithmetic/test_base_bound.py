"""The least rotary base: the published rows, straight lines between them in the logarithms, and two digits upwards."""

import math

import pytest

from gnomon.advisor.arithmetic.base_bound import BOUNDS, base_for, least_base
from gnomon.errors import GnomonError

#: Men et al. 2024, table 2, for 1k, 2k, 4k, ... 1M.
PUBLISHED = (4.3e3, 1.6e4, 2.7e4, 8.4e4, 3.1e5, 6.4e5, 2.1e6, 7.8e6, 3.6e7, 6.4e7, 5.1e8)


def test_the_rows_are_those_published() -> None:
    assert tuple((1024 * 2**row, base) for row, base in enumerate(PUBLISHED)) == BOUNDS


@pytest.mark.parametrize(("length", "base"), BOUNDS)
def test_a_published_length_has_its_published_base(length: int, base: float) -> None:
    assert least_base(length) == pytest.approx(base, rel=1e-12)
    assert base_for(length) == pytest.approx(max(10000.0, base), rel=1e-12)


def test_half_way_along_the_logarithm_is_the_geometric_mean() -> None:
    # 8192 x sqrt(2) = 11585.2; the mean of 8.4e4 and 3.1e5 is sqrt(8.4e4 x 3.1e5) = sqrt(2.604e10) = 161369.1.
    assert math.sqrt(2.604e10) == pytest.approx(161369.1, abs=0.1)
    assert least_base(11585) == pytest.approx(161369.1, rel=1e-4)
    assert base_for(11585) == 170000.0


def test_a_length_between_two_rows_by_hand() -> None:
    # ln 12000 = 9.392662, ln 8192 = 9.010913, ln 2 = 0.693147: a share of 0.381749 / 0.693147 = 0.550747.
    # ln(310 / 84) = 1.305755; x 0.550747 = 0.719140; e^0.719140 = 2.052668; x 84000 = 172424.
    assert least_base(12000) == pytest.approx(172424, abs=30)
    assert base_for(12000) == 180000.0


@pytest.mark.parametrize("length", [1, 512, 1023])
def test_short_contexts_keep_the_base_of_the_paper(length: int) -> None:
    assert least_base(length) == 4300.0
    assert base_for(length) == 10000.0


def test_a_recommended_base_is_never_below_the_bound_and_rises_with_the_length() -> None:
    lengths = range(1, 1048577, 7919)
    bases = [base_for(length) for length in lengths]
    assert bases == sorted(bases)
    for length, base in zip(lengths, bases, strict=True):
        bound = least_base(length)
        assert bound * (1 - 1e-9) <= base <= max(10000.0, 1.1 * bound)


def test_beyond_the_table_nothing_is_guessed() -> None:
    with pytest.raises(GnomonError, match=r"ends at 1048576 tokens, got 1048577"):
        least_base(1048577)
