"""Dynamic YaRN: plain up to the trained length, and YaRN with the factor n / L at each length n above it."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Bands, DynamicYaRN, Plain, YaRN, build_frequencies
from gnomon.encodings.frequencies.dynamic_yarn import reference
from gnomon.errors import GnomonError
from tests.encodings.frequencies.test_by_parts import OPTIONS
from tests.helpers.rope_init import transformers_rule

STRETCHES = st.sampled_from([0.5, 1.0]) | st.floats(1.0, 16.0)


@given(st.integers(1, 128), OPTIONS, STRETCHES)
def test_the_table_of_each_length_is_the_formula(pairs: int, options: dict[str, Any], stretch: float) -> None:
    options = {key: value for key, value in options.items() if key != "factor"}
    length = int(stretch * options["original_max_length"])
    ours = DynamicYaRN(**options).at_length(length)
    expected = [reference(i, 2 * pairs, **options, length=length) for i in range(pairs)]
    assert ours.inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)
    assert ours.attention_factor == pytest.approx(0.1 * math.log(max(1, length / options["original_max_length"])) + 1)


@pytest.mark.parametrize("length", [4097, 5000, 16384, 131072])
def test_a_long_sequence_has_the_yarn_of_transformers_with_that_factor(length: int) -> None:
    ours = DynamicYaRN(4096, base=5e5, truncate=False).at_length(length)
    fields: dict[str, Any] = {"factor": length / 4096, "truncate": False, "original_max_position_embeddings": 4096}
    theirs, attention = transformers_rule("yarn", 128, 5e5, **fields)
    assert ours.inverse(128).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == pytest.approx(attention, rel=1e-12)


def test_it_changes_from_the_first_length_past_the_trained_one_and_not_before() -> None:
    rule = DynamicYaRN(64, base=500.0, beta_fast=4.0, beta_slow=0.5, truncate=False)
    assert [rule.at_length(length) for length in (1, 64)] == [Plain(500.0)] * 2
    grown = YaRN(65 / 64, 64, base=500.0, beta_fast=4.0, beta_slow=0.5, truncate=False)
    assert rule.at_length(65) == grown
    assert [rule.regime(length) for length in (1, 64, 65, 66)] == [0, 0, 65, 66]
    assert rule.inverse(12).tolist() == Plain(500.0).inverse(12).tolist()
    assert (rule.bands(12), rule.attention_factor) == (Bands(kept=6), 1.0)


def test_a_rotation_does_not_keep_lengths_though_it_does_in_short_sequences() -> None:
    rotary = Rotary(8, frequencies=DynamicYaRN(64, base=500.0))
    assert not rotary.norm_preserving
    assert rotary.at_length(64).norm_preserving
    assert not rotary.at_length(65).norm_preserving


def test_bad_numbers_are_errors_that_name_them() -> None:
    with pytest.raises(GnomonError, match="original_max_length must be a finite number above 0, got 0"):
        DynamicYaRN(0)
    with pytest.raises(GnomonError, match=r"beta_fast must be at least beta_slow, got 0\.5 and 1\.0"):
        DynamicYaRN(64, beta_fast=0.5)


def test_the_dict_form_comes_back() -> None:
    rule = DynamicYaRN(64, base=500, beta_fast=4, beta_slow=2, truncate=False)
    assert build_frequencies(rule.to_dict()) == rule != DynamicYaRN(64, base=500, beta_fast=4, beta_slow=2)
