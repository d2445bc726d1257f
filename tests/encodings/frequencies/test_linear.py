"""Position interpolation: a position turns as the position divided by the factor did."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Bands, Linear, Plain, build_frequencies
from gnomon.encodings.frequencies.linear import reference
from gnomon.errors import GnomonError


@given(st.integers(1, 64), st.floats(2.0, 1e6), st.floats(1.0, 64.0))
def test_linear_frequencies_equal_the_formula(pairs: int, base: float, factor: float) -> None:
    expected = [reference(i, 2 * pairs, base, factor) for i in range(pairs)]
    assert Linear(factor, base).inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)


def test_four_times_the_position_at_factor_four_is_the_plain_rotation() -> None:
    x = torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(0))
    positions = torch.tensor([[0, 1, 2, 3, 4], [100, 3, 7, 9, 50]])
    stretched = Rotary(8, frequencies=Linear(4.0)).rotate_query(x, 4 * positions)
    torch.testing.assert_close(stretched, Rotary(8).rotate_query(x, positions))


def test_factor_one_is_plain() -> None:
    assert Linear(1.0, 500.0).inverse(6).tolist() == Plain(500.0).inverse(6).tolist()
    assert Linear(1.0).bands(6) == Plain().bands(6) == Bands(kept=3)
    assert Linear(4.0).bands(6) == Bands(divided=3)


@pytest.mark.parametrize("factor", [0.5, 0.0, -2.0, float("nan"), float("inf")])
def test_a_factor_below_one_is_an_error(factor: float) -> None:
    with pytest.raises(GnomonError, match=f"at least 1, got {factor}"):
        Linear(factor)


def test_the_factor_is_needed_and_comes_back() -> None:
    with pytest.raises(GnomonError, match="'linear' needs factor"):
        build_frequencies({"kind": "linear"})
    assert build_frequencies(Linear(4, base=500).to_dict()) == Linear(4.0, base=500.0)
