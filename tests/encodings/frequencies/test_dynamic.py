"""Dynamic NTK: plain up to the trained length, and at each length above it NTK-aware with a factor of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Bands, DynamicNTK, NTKAware, Plain, build_frequencies
from gnomon.encodings.frequencies.dynamic import reference
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

PAIRS, FACTORS, TRAINED, BASES = st.integers(2, 128), st.floats(1.0, 64.0), st.integers(2, 8192), st.floats(10.0, 1e7)
STRETCHES = st.sampled_from([0.5, 1.0]) | st.floats(1.0, 16.0)


@given(PAIRS, FACTORS, TRAINED, BASES, STRETCHES)
def test_the_table_of_each_length_is_the_formula_and_that_of_transformers(
    pairs: int, factor: float, trained: int, base: float, stretch: float
) -> None:
    rule, length = DynamicNTK(factor, trained, base), int(stretch * trained)
    ours = rule.at_length(length)
    expected = [reference(i, 2 * pairs, factor, trained, base, length) for i in range(pairs)]
    assert ours.inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)
    theirs, attention = transformers_rule("dynamic", 2 * pairs, base, longest=trained, seq_len=length, factor=factor)
    assert ours.inverse(2 * pairs).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == rule.attention_factor == attention == 1.0


@pytest.mark.parametrize(
    ("length", "base"), [(2048, 10000.0), (3072, 30527.736749), (4096, 51293.787268), (8192, 135401.973042)]
)
def test_the_published_golden_bases(length: int, base: float) -> None:
    grown = DynamicNTK(4.0, 2048).at_length(length)
    assert grown.inverse(128).tolist() == pytest.approx(Plain(base).inverse(128).tolist(), rel=1e-10)


def test_it_changes_from_the_first_length_past_the_trained_one_and_not_before() -> None:
    rule = DynamicNTK(4.0, 64, 500.0)
    assert [rule.at_length(length) for length in (1, 63, 64)] == [Plain(500.0)] * 3
    assert rule.at_length(65) == NTKAware(4 * 65 / 64 - 3, 500.0)
    assert [rule.regime(length) for length in (1, 63, 64, 65, 66)] == [0, 0, 0, 65, 66]
    assert rule.length_dependent
    assert not rule.at_length(64).length_dependent
    assert not rule.at_length(65).length_dependent
    assert rule.inverse(12).tolist() == Plain(500.0).inverse(12).tolist()
    assert (rule.bands(12), rule.at_length(65).bands(12)) == (Bands(kept=6), Bands(kept=1, blended=4, divided=1))


def test_a_trained_length_between_two_whole_ones_changes_at_the_second() -> None:
    rule = DynamicNTK(4.0, 64.5)
    assert (rule.regime(64), rule.regime(65)) == (0, 65)


def test_bad_numbers_are_errors_that_name_them() -> None:
    with pytest.raises(GnomonError, match=r"factor of dynamic scaling must be .* at least 1, got 0\.5"):
        DynamicNTK(0.5, 64)
    with pytest.raises(GnomonError, match="original_max_length must be a finite number above 0, got 0"):
        DynamicNTK(2.0, 0)
    with pytest.raises(GnomonError, match="even and at least 2, got 7"):
        DynamicNTK(2.0, 64).inverse(7)


def test_a_width_that_only_long_sequences_would_refuse_is_refused_at_once() -> None:
    with pytest.raises(GnomonError, match="width of at least 4, got 2"):
        Rotary(2, frequencies=DynamicNTK(2.0, 64))


def test_the_dict_form_comes_back() -> None:
    rule = DynamicNTK(4, 64, 500)
    assert build_frequencies(rule.to_dict()) == rule != DynamicNTK(4, 65, 500)
    fixed = rule.at_length(100)
    assert build_frequencies(fixed.to_dict()) == fixed
