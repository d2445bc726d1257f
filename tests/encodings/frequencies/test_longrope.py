"""LongRoPE: one list of divisors up to the trained length, another above it."""

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings import Rotary
from gnomon.encodings.frequencies import Bands, LongRoPE, Plain, build_frequencies
from gnomon.encodings.frequencies.longrope import reference, reference_attention_factor
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

TRAINED = 64
SHORT, LONG = [1.0, 1.1, 1.5], [1.2, 3.0, 9.0]
GIVEN: dict[str, Any] = {"short_factor": SHORT, "long_factor": LONG, "original_max_length": TRAINED, "factor": 8.0}
DIVISORS = st.floats(0.5, 64.0)
LISTS = st.lists(st.tuples(DIVISORS, DIVISORS), min_size=2, max_size=64)


@given(LISTS, st.integers(2, 8192), st.floats(10.0, 1e7), st.floats(1.0, 64.0), st.sampled_from([0, 1, 1000]))
def test_table_and_attention_factor_of_each_length_are_the_formula_and_those_of_transformers(
    lists: list[tuple[float, float]], trained: int, base: float, factor: float, past: int
) -> None:
    (short, long), width = (list(part) for part in zip(*lists, strict=True)), 2 * len(lists)
    ours = LongRoPE(short, long, trained, base=base, factor=factor).at_length(trained + past)
    expected = [reference(i, width, short, long, trained, base, trained + past) for i in range(len(lists))]
    assert ours.inverse(width).tolist() == pytest.approx(expected, rel=1e-12)
    assert ours.attention_factor == pytest.approx(reference_attention_factor(factor, trained), rel=1e-12)
    theirs, attention = transformers_rule(
        *("longrope", width, base),
        seq_len=trained + past,
        short_factor=short,
        long_factor=long,
        factor=factor,
        original_max_position_embeddings=trained,
    )
    assert ours.inverse(width).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == pytest.approx(attention, rel=1e-12)


@pytest.mark.parametrize(
    ("longest", "trained", "expected"),
    [(131072, 4096, 1.190238), (131072, 8192, 1.143544), (131072, 32768, 1.064581), (32768, 4096, 1.118034)],
)
def test_the_published_golden_attention_factors(longest: int, trained: int, expected: float) -> None:
    rule = LongRoPE(SHORT, LONG, trained, factor=longest / trained)
    assert rule.attention_factor == pytest.approx(expected, abs=5e-7)
    fields: dict[str, Any] = {"short_factor": SHORT, "long_factor": LONG, "original_max_position_embeddings": trained}
    _, theirs = transformers_rule("longrope", 6, 1e4, longest=longest, **fields)  # without a factor: longest / trained
    assert rule.attention_factor == pytest.approx(theirs, rel=1e-12)


def test_short_holds_at_the_trained_length_itself_and_long_from_the_next() -> None:
    rule = LongRoPE(SHORT, LONG, TRAINED, base=500.0, factor=8.0)
    short, long = (Plain(500.0).inverse(6) / divisors for divisors in (SHORT, LONG))
    assert rule.inverse(6).tolist() == rule.at_length(1).inverse(6).tolist() == short.tolist()
    assert rule.at_length(TRAINED).inverse(6).tolist() == short.tolist()
    assert rule.at_length(TRAINED + 1).inverse(6).tolist() == long.tolist()
    assert [rule.regime(n) for n in (1, TRAINED, TRAINED + 1, 10**6)] == [0, 0, TRAINED + 1, TRAINED + 1]


def test_the_rule_of_one_length_depends_on_none_and_is_plain_json() -> None:
    rule = LongRoPE(SHORT, LONG, TRAINED, base=500.0, factor=8.0)
    fixed = rule.at_length(TRAINED + 1)
    assert (rule.length_dependent, fixed.length_dependent) == (True, False)
    assert fixed.at_length(1) == fixed == build_frequencies(fixed.to_dict())
    assert fixed.regime(TRAINED + 1) == fixed.regime(1) == 0
    assert fixed.attention_factor == rule.attention_factor


def test_the_bands_count_divisors_of_one_and_of_the_whole_factor() -> None:
    rule = LongRoPE([1.0, 1.0, 1.5], [1.0, 8.0, 9.0], TRAINED, factor=8.0)
    assert rule.bands(6) == Bands(kept=2, blended=1)
    assert rule.at_length(TRAINED + 1).bands(6) == Bands(kept=1, divided=2)
    assert LongRoPE([1.0, 1.0], [1.0, 1.0], TRAINED, factor=1.0).bands(4) == Bands(kept=2)
    assert LongRoPE(SHORT, LONG, TRAINED, attention_factor=1.0).at_length(99).bands(6) == Bands(blended=3)


def test_short_and_long_sequences_may_have_attention_factors_of_their_own() -> None:
    """The short_mscale and long_mscale of vLLM; Phi-3-small leaves short sequences alone."""
    rule = LongRoPE(SHORT, LONG, TRAINED, attention_factor=[1.0, 1.19])
    assert rule.attention_factor == rule.at_length(TRAINED).attention_factor == 1.0
    assert rule.at_length(TRAINED + 1).attention_factor == 1.19
    assert LongRoPE(SHORT, SHORT, TRAINED, attention_factor=[1.0, 1.19]).length_dependent
    assert LongRoPE(SHORT, LONG, TRAINED, factor=8.0, attention_factor=1.3).attention_factor == 1.3


def test_a_rotation_keeps_lengths_only_if_it_does_at_every_length() -> None:
    def keeps(attention: Any) -> bool:
        return Rotary(6, frequencies=LongRoPE(SHORT, LONG, TRAINED, attention_factor=attention)).norm_preserving

    assert [keeps(given) for given in (1.0, [1.0, 1.0], [1.0, 1.2], [1.2, 1.0], 1.2)] == [True, True, *[False] * 3]


def test_cosines_in_float64_have_the_attention_factor_in_float64() -> None:
    rotary = Rotary(6, frequencies=LongRoPE(SHORT, LONG, TRAINED, base=500.0, factor=8.0))
    for position in (TRAINED - 1, TRAINED):
        cos, _ = rotary.cos_sin(torch.tensor([[position]]), dtype=torch.float64)
        inverse = [reference(i, 6, SHORT, LONG, TRAINED, 500.0, position + 1) for i in range(3)]
        factor = reference_attention_factor(8.0, TRAINED)
        assert cos[0, 0].tolist() == pytest.approx([factor * math.cos(position * w) for w in inverse], abs=1e-13)


def test_rows_with_lengths_of_their_own_may_share_positions() -> None:
    rotary = Rotary(6, frequencies=LongRoPE(SHORT, LONG, TRAINED, base=500.0, factor=8.0))
    x, place, lengths = torch.ones(2, 1, 3, 6), torch.arange(3)[None], torch.tensor([TRAINED, TRAINED + 1])
    turned = rotary.at_length(lengths).rotate_query(x, place)
    for row, length in enumerate(lengths.tolist()):
        assert torch.equal(turned[[row]], rotary.at_length(length).rotate_query(x[[row]], place))
    assert not torch.equal(turned[0], turned[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": None}, r"needs factor, the longest length .* or attention_factor; got neither"),
        ({"factor": 0.5}, r"factor of LongRoPE must be .* at least 1, got 0\.5"),
        ({"original_max_length": 1}, "original_max_length of LongRoPE must be above 1, got 1"),
        ({"original_max_length": -1}, "original_max_length must be a finite number above 0, got -1"),
        ({"short_factor": [1.0, 0.0, 1.0]}, r"short_factor of LongRoPE must be a finite number above 0, got 0\.0"),
        ({"long_factor": [1.0, math.nan, 1.0]}, "long_factor of LongRoPE must be a finite number above 0, got nan"),
        ({"attention_factor": -1.0}, r"attention_factor of LongRoPE must be a finite number above 0, got -1\.0"),
        ({"attention_factor": [1.0, 0.0]}, r"attention_factor of LongRoPE must be .* above 0, got 0\.0"),
        ({"attention_factor": [1.0]}, "one number, or two for short and long sequences, got 1"),
    ],
)
def test_bad_numbers_are_errors_that_name_them(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        LongRoPE(**GIVEN | options)


def test_lists_that_do_not_fit_the_width_are_refused_before_any_sequence_is_long() -> None:
    with pytest.raises(GnomonError, match="short_factor of LongRoPE has 3 numbers, but the rotated width is 8; give 4"):
        Rotary(8, frequencies=LongRoPE(SHORT, LONG, TRAINED, factor=8.0))
    with pytest.raises(GnomonError, match="long_factor of LongRoPE has 2 numbers, but the rotated width is 6; give 3"):
        Rotary(8, rotary_dim=6, frequencies=LongRoPE(SHORT, LONG[:2], TRAINED, factor=8.0))


def test_the_dict_form_comes_back_and_shares_nothing() -> None:
    rule = LongRoPE(SHORT, LONG, 64, base=500, attention_factor=[1, 1.2])
    assert build_frequencies(rule.to_dict()) == rule != LongRoPE(SHORT, LONG, 64, base=500, attention_factor=1.2)
    rule.options["short_factor"][0] = rule.options["attention_factor"][0] = 7.0
    assert rule.options["short_factor"] == SHORT
    assert rule.attention_factor == 1.0
    assert hash(rule) == hash(build_frequencies(rule.to_dict()))
