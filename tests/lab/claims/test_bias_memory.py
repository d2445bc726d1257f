"""Claim 29."""

import pytest

from gnomon.lab.claims.bias_memory import megabytes
from tests.helpers.claims import verdict


def test_a_bias_takes_four_bytes_for_each_pair_and_a_row_four_for_each_key() -> None:
    assert megabytes("symmetric", 128) == pytest.approx(8 * 128**2 * 4 / 1e6)
    assert megabytes("causal", 2048) <= 2 * 8 * 2048 * 4 / 1e6


def test_a_fixed_bias_wastes_memory_or_not() -> None:
    row = {"MB for 2048, one row": 0.06}
    assert verdict(29, {"MB for 2048": 134.0, "MB for 128": 0.5, **row}) == "holds"
    assert verdict(29, {"MB for 2048": 134.0, "MB for 128": 100.0, **row}) == "fails"
