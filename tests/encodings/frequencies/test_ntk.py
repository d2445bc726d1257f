"""NTK-aware scaling: a larger base keeps the first pair and divides the last by the factor."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings.frequencies import Bands, NTKAware, Plain, build_frequencies
from gnomon.encodings.frequencies.ntk import reference
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

BASES, FACTORS = st.floats(10.0, 1e7), st.floats(1.0, 64.0)


@given(st.integers(2, 128), BASES, FACTORS)
def test_equals_the_formula(pairs: int, base: float, factor: float) -> None:
    expected = [reference(i, 2 * pairs, factor, base) for i in range(pairs)]
    assert NTKAware(factor, base).inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)


def test_the_published_golden_base() -> None:
    assert NTKAware(4.0, 1e4).larger_base(128) == pytest.approx(40889.942, abs=1e-3)


@given(st.integers(2, 64), BASES, st.floats(1.0, 16.0))
def test_is_the_dynamic_rule_of_transformers_where_that_stretches_by_the_same_factor(
    pairs: int, base: float, factor: float
) -> None:
    """Dynamic: the base grows by s n / L - (s - 1), and that is s + 1 at a length of n = 2 L."""
    head = 2 * pairs
    theirs, attention = transformers_rule("dynamic", head, base, longest=100, seq_len=200, factor=factor)
    ours = NTKAware(1 + factor, base)
    assert ours.inverse(head).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == attention == 1.0


def test_the_first_pair_is_kept_and_the_last_divided_by_the_whole_factor() -> None:
    plain, ours = Plain(500.0).inverse(12), NTKAware(4.0, 500.0).inverse(12)
    assert (plain / ours)[[0, -1]].tolist() == pytest.approx([1.0, 4.0], rel=1e-12)
    assert NTKAware(4.0, 500.0).bands(12) == Bands(kept=1, blended=4, divided=1)
    assert NTKAware(1.0, 500.0).bands(12) == Bands(kept=6)


def test_bad_numbers_are_errors_that_name_them() -> None:
    with pytest.raises(GnomonError, match=r"factor of NTK-aware scaling must be .* at least 1, got 0\.5"):
        NTKAware(0.5)
    with pytest.raises(GnomonError, match="width of at least 4, got 2"):
        NTKAware(4.0).inverse(2)
    with pytest.raises(GnomonError, match="even and at least 2, got 7"):
        NTKAware(4.0).inverse(7)


def test_the_dict_form_comes_back() -> None:
    assert build_frequencies(NTKAware(4, 500).to_dict()) == NTKAware(4.0, 500.0) != NTKAware(5.0, 500.0)
