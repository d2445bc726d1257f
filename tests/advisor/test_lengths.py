"""Percentiles by nearest rank, and the share of inputs that is longer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.advisor.lengths import Lengths


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.integers(1, 100))
def test_a_percentile_is_numpys_by_nearest_rank(counts: list[int], percent: int) -> None:
    expected = np.percentile(counts, percent, method="inverted_cdf")
    assert Lengths(counts=tuple(counts)).at(percent) == expected


def test_the_share_above_a_length_counts_the_longer_ones() -> None:
    lengths = Lengths(counts=(5, 10, 10, 20))
    assert lengths.share_above(10) == 0.25
    assert lengths.share_above(9) == 0.75
    assert lengths.share_above(20) == 0.0


@pytest.mark.parametrize(("limit", "share"), [(99, None), (100, 0.5), (479, 0.5), (480, 0.05), (599, 0.05), (600, 0.0)])
def test_percentiles_bound_the_share(limit: int, share: float | None) -> None:
    assert Lengths(percentiles={50: 100, 95: 480, 100: 600}).share_above(limit) == share


def test_what_is_not_known_is_none() -> None:
    assert Lengths().at(95) is None
    assert Lengths().longest is None
    assert Lengths().share_above(5) is None
