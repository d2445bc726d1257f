"""Proportional frequencies: the fastest part of the pairs turns, the slow tail stands still."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Bands, Linear, Proportional, build_frequencies
from gnomon.encodings.frequencies.proportional import reference
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

FRACTIONS = st.sampled_from([0.25, 0.5, 0.75, 1.0]) | st.floats(0.25, 1.0)


@given(st.integers(4, 128), FRACTIONS, st.floats(1.0, 64.0), st.floats(10.0, 1e7))
def test_table_is_the_formula_and_that_of_transformers(pairs: int, fraction: float, factor: float, base: float) -> None:
    ours = Proportional(fraction, factor, base).inverse(2 * pairs).tolist()
    assert ours == pytest.approx([reference(i, 2 * pairs, fraction, factor, base) for i in range(pairs)], rel=1e-12)
    theirs, attention = transformers_rule(
        "proportional", 2 * pairs, base, factor=factor, partial_rotary_factor=fraction
    )
    assert ours == pytest.approx(theirs, rel=1e-12)
    assert attention == Proportional(fraction).attention_factor == 1.0


def test_the_tail_of_each_half_is_left_alone() -> None:
    x = torch.randn(2, 3, 4, 8, generator=torch.Generator().manual_seed(0))
    turned = Rotary(8, frequencies=Proportional(0.5)).rotate_query(x, torch.arange(1, 5)[None])
    changed = (turned != x).flatten(0, 2).all(0).tolist()
    assert changed == [True, True, False, False] * 2


def test_the_whole_is_linear_scaling() -> None:
    assert Proportional(1.0, 4.0, 500.0).inverse(12).tolist() == Linear(4.0, 500.0).inverse(12).tolist()


def test_bands_count_the_pairs_that_stand_still() -> None:
    assert Proportional(0.25).bands(512) == Bands(kept=64, still=192)
    assert Proportional(0.25, 8.0).bands(512) == Bands(divided=64, still=192)


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.5, float("nan")])
def test_a_fraction_outside_0_to_1_is_an_error(fraction: float) -> None:
    with pytest.raises(GnomonError, match=f"above 0 and at most 1, got {fraction}"):
        Proportional(fraction)


def test_a_fraction_that_turns_nothing_is_an_error() -> None:
    with pytest.raises(GnomonError, match=r"0\.1 of a rotated width of 8 leaves no pair to turn; give at least 0\.25"):
        Proportional(0.1).inverse(8)
    assert Proportional(0.25).bands(8) == Bands(kept=1, still=3)
    with pytest.raises(GnomonError, match=r"at least 1, got 0\.5"):
        Proportional(0.5, 0.5)


def test_the_dict_form_comes_back() -> None:
    rule = Proportional(0.25, base=1e6)
    assert build_frequencies(rule.to_dict()) == rule != Proportional(0.5, base=1e6)
