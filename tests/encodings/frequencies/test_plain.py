"""The plain frequencies against the paper's formula."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings.frequencies import Plain, build_frequencies
from gnomon.encodings.frequencies.plain import reference
from gnomon.errors import GnomonError


@given(st.integers(1, 128), st.floats(1.001, 1e7))
def test_plain_frequencies_equal_the_formula(pairs: int, base: float) -> None:
    expected = [reference(i, 2 * pairs, base) for i in range(pairs)]
    assert Plain(base).inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-13)


def test_the_width_in_the_exponent_is_the_rotated_one() -> None:
    assert Plain(10000.0).inverse(4).tolist() == pytest.approx([1.0, 0.01])
    assert Plain(10000.0).inverse(64)[16] == pytest.approx(0.01)


@pytest.mark.parametrize("base", [0.0, 1.0, -10.0, float("inf"), float("nan")])
def test_a_base_that_gives_no_falling_frequencies_is_an_error(base: float) -> None:
    with pytest.raises(GnomonError, match=f"a finite number above 1, got {base}"):
        Plain(base)


@pytest.mark.parametrize("width", [0, 7, -2])
def test_an_odd_or_empty_width_is_an_error(width: int) -> None:
    with pytest.raises(GnomonError, match=f"even and at least 2, got {width}"):
        Plain().inverse(width)


def test_the_dict_form_comes_back_as_an_equal_rule() -> None:
    assert Plain(500).to_dict() == {"kind": "plain", "base": 500.0}
    assert build_frequencies(Plain(500).to_dict()) == Plain(500.0) != Plain(501.0)
    assert hash(Plain(500)) == hash(Plain(500.0))


def test_an_unknown_option_is_an_error_that_lists_the_valid_ones() -> None:
    with pytest.raises(GnomonError, match="'plain' has no option theta; it takes base"):
        build_frequencies({"kind": "plain", "theta": 3.0})
    with pytest.raises(GnomonError, match=r"No frequencies is called 'plane'\. Did you mean 'plain'"):
        build_frequencies({"kind": "plane"})
