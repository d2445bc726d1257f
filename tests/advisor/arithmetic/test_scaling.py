"""Factors, attention factors, bases and table lengths: by hand, and as the encodings have them."""

import math

import pytest

from gnomon.advisor.arithmetic.scaling import factor_for, ntk_base, table_length, yarn_attention_factor
from gnomon.encodings.frequencies import NTKAware, YaRN


def test_a_factor_is_the_quotient_of_the_lengths() -> None:
    assert factor_for(32768, 4096) == 8.0
    assert factor_for(6144, 4096) == 1.5


@pytest.mark.parametrize(
    ("factor", "by_hand"),
    [
        (1.0, 1.0),
        (2.0, 1.0693147),  # ln 2 = 0.693147
        (4.0, 1.1386294),  # ln 4 = 1.386294
        (8.0, 1.2079442),  # ln 8 = 2.079442
        (40.0, 1.3688879),  # ln 40 = 3.688879
    ],
)
def test_the_attention_factor_of_yarn(factor: float, by_hand: float) -> None:
    assert yarn_attention_factor(factor) == pytest.approx(by_hand, abs=1e-7)
    assert yarn_attention_factor(factor) == YaRN(factor=factor, original_max_length=4096).attention_factor


def test_the_larger_base_of_ntk_aware_scaling() -> None:
    # 10000 x 4^(128/126): ln 4 x 1.015873 = 1.408299; e^1.408299 = 4.088994; a base of 40889.94.
    assert ntk_base(10000.0, 4.0, 128) == pytest.approx(40889.942, abs=0.001)


@pytest.mark.parametrize("rotary_dim", [4, 32, 80, 128])
@pytest.mark.parametrize(("base", "factor"), [(10000.0, 2.0), (500000.0, 8.0)])
def test_the_larger_base_is_that_of_the_frequencies(rotary_dim: int, base: float, factor: float) -> None:
    built = NTKAware(factor=factor, base=base).larger_base(rotary_dim)
    assert ntk_base(base, factor, rotary_dim) == pytest.approx(built, rel=1e-12)


@pytest.mark.parametrize(
    ("length", "rows"),
    [(1, 2), (10, 11), (11, 13), (100, 110), (180, 198), (463, 510), (480, 528), (481, 530), (1000, 1100)],
)
def test_a_table_has_a_tenth_more_than_the_percentile_rounded_up(length: int, rows: int) -> None:
    # 11 x 1.1 = 12.1 -> 13; 463 x 1.1 = 509.3 -> 510; 481 x 1.1 = 529.1 -> 530; 10 x 1.1 = 11 and no more.
    assert table_length(length) == rows
    assert rows - 1 < length * 1.1 + 1e-9
    assert rows >= math.floor(length * 1.1)
