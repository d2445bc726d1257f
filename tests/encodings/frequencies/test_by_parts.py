"""NTK-by-parts: fast pairs are kept, slow pairs divided, and a ramp lies between."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings.frequencies import Bands, ByParts, Plain, build_frequencies
from gnomon.encodings.frequencies.by_parts import reference
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

#: options whose ramp lies on the pairs: beyond it transformers divides what it should keep (tested below)
OPTIONS = st.fixed_dictionaries(
    {
        "factor": st.floats(1.0, 64.0),
        "original_max_length": st.integers(64, 8192),
        "base": st.floats(400.0, 1e4) | st.floats(1e4, 1e7),
        "beta_fast": st.floats(4.0, 64.0),
        "beta_slow": st.floats(0.5, 4.0),
        "truncate": st.booleans(),
    }
)


@given(st.integers(1, 128), OPTIONS)
def test_equals_the_formula(pairs: int, options: dict[str, Any]) -> None:
    expected = [reference(i, 2 * pairs, **options) for i in range(pairs)]
    assert ByParts(**options).inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)


@given(st.integers(2, 128), OPTIONS)
def test_is_yarn_of_transformers_with_an_attention_factor_of_one(pairs: int, options: dict[str, Any]) -> None:
    fields = {key: value for key, value in options.items() if key not in ("original_max_length", "base")}
    fields |= {"original_max_position_embeddings": options["original_max_length"], "attention_factor": 1.0}
    theirs, attention = transformers_rule("yarn", 2 * pairs, options["base"], **fields)
    ours = ByParts(**options)
    assert ours.inverse(2 * pairs).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == attention == 1.0


def test_equal_bounds_divide_at_one_place() -> None:
    rule = ByParts(4.0, 4096, beta_fast=4.0, beta_slow=4.0, truncate=False)
    fields: dict[str, Any] = {"factor": 4.0, "beta_fast": 4.0, "beta_slow": 4.0, "truncate": False}
    theirs, _ = transformers_rule("yarn", 128, 1e4, original_max_position_embeddings=4096, **fields)
    assert rule.inverse(128).tolist() == pytest.approx(theirs, rel=1e-12)
    assert rule.bands(128) == Bands(kept=36, divided=28)


@pytest.mark.parametrize(
    ("width", "base", "length", "low", "high"),
    [(128, 1e4, 4096, 20.9445, 45.0269), (128, 1e6, 32768, 23.5959, 39.6509), (64, 1.5e5, 4096, 8.0928, 17.3980)],
)
def test_the_published_golden_ramps(width: int, base: float, length: int, low: float, high: float) -> None:
    exact = ByParts(4.0, length, base=base, truncate=False)
    assert exact.ramp(width) == pytest.approx((low, high), abs=5e-5)
    assert ByParts(4.0, length, base=base).ramp(width) == (math.floor(low), math.ceil(high))


def test_the_bands_are_what_was_done_to_the_pairs() -> None:
    rule = ByParts(4.0, 4096)
    divided_by = (Plain().inverse(128) / rule.inverse(128)).tolist()
    assert rule.bands(128) == Bands(kept=21, blended=25, divided=18)
    assert divided_by[:21] == [1.0] * 21
    assert divided_by[46:] == pytest.approx([4.0] * 18, rel=1e-12)
    assert all(1 < d < 3.9 for d in divided_by[21:46])
    assert ByParts(1.0, 4096).bands(128) == Bands(kept=64)


def test_where_every_pair_turns_often_all_are_kept() -> None:
    """transformers 5.24 divides them all: both ends of its ramp lie past the last pair, and have changed places."""
    rule = ByParts(4.0, 65536, base=10.0)
    assert min(Plain(10.0).inverse(8)) * 65536 / (2 * math.pi) > 32
    assert rule.inverse(8).tolist() == Plain(10.0).inverse(8).tolist()
    assert rule.bands(8) == Bands(kept=4)
    theirs, _ = transformers_rule("yarn", 8, 10.0, factor=4.0, original_max_position_embeddings=65536)
    assert theirs == pytest.approx((Plain(10.0).inverse(8) / 4).tolist(), rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 0.9}, r"factor of NTK-by-parts scaling must be .* at least 1, got 0\.9"),
        ({"original_max_length": 0}, "original_max_length must be a finite number above 0, got 0"),
        ({"beta_fast": 1.0, "beta_slow": 2.0}, r"beta_fast must be at least beta_slow, got 1\.0 and 2\.0"),
        ({"beta_slow": -1.0}, r"beta_slow must be a finite number above 0, got -1\.0"),
        ({"base": 1.0}, r"base of the frequencies must be a finite number above 1, got 1\.0"),
    ],
)
def test_bad_numbers_are_errors_that_name_them(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        ByParts(**{"factor": 4.0, "original_max_length": 4096, **options})


def test_the_dict_form_comes_back() -> None:
    rule = ByParts(4, 64, base=500, truncate=False)
    assert build_frequencies(rule.to_dict()) == rule != ByParts(4, 64, base=500)
