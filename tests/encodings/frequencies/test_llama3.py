"""llama3: short waves are kept, long ones divided, those between blended."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.encodings.frequencies import Bands, Llama3, Plain, build_frequencies
from gnomon.encodings.frequencies.llama3 import reference
from gnomon.errors import GnomonError
from tests.helpers.rope_init import transformers_rule

OPTIONS = st.fixed_dictionaries(
    {
        "factor": st.floats(1.0, 64.0),
        "original_max_length": st.integers(16, 65536),
        "base": st.floats(10.0, 1e7),
        "low_freq_factor": st.floats(0.5, 4.0),
        "high_freq_factor": st.floats(4.1, 16.0),
    }
)


@given(st.integers(1, 128), OPTIONS)
def test_equals_the_formula(pairs: int, options: dict[str, Any]) -> None:
    expected = [reference(i, 2 * pairs, **options) for i in range(pairs)]
    assert Llama3(**options).inverse(2 * pairs).tolist() == pytest.approx(expected, rel=1e-12)


@given(st.integers(2, 128), OPTIONS)
def test_table_and_attention_factor_are_those_of_transformers(pairs: int, options: dict[str, Any]) -> None:
    fields = dict(options)
    base, original = fields.pop("base"), fields.pop("original_max_length")
    theirs, attention = transformers_rule(
        "llama3", 2 * pairs, base, original_max_position_embeddings=original, **fields
    )
    ours = Llama3(**options)
    assert ours.inverse(2 * pairs).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == attention == 1.0


def test_the_golden_bands_of_llama_3_1_are_what_was_done_to_the_pairs() -> None:
    rule = Llama3(base=5e5)
    divided_by = (Plain(5e5).inverse(128) / rule.inverse(128)).tolist()
    assert rule.bands(128) == Bands(kept=29, blended=6, divided=29)
    assert divided_by[:29] == [1.0] * 29
    assert divided_by[35:] == pytest.approx([8.0] * 29, rel=1e-12)
    assert all(1 < d < 8 for d in divided_by[29:35])
    assert Llama3(factor=1.0).bands(8) == Bands(kept=4)


def test_equal_bounds_blend_nothing_as_in_llama_4() -> None:
    rule = Llama3(16.0, 8192, base=5e5, low_freq_factor=1.0, high_freq_factor=1.0)
    assert rule.bands(128) == Bands(kept=35, divided=29)
    options: dict[str, Any] = {"factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0}
    theirs, _ = transformers_rule("llama3", 128, 5e5, original_max_position_embeddings=8192, **options)
    assert rule.inverse(128).tolist() == pytest.approx(theirs, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"factor": 0.5}, r"factor of llama3 scaling must be .* at least 1, got 0\.5"),
        ({"original_max_length": -1}, "original_max_length must be a finite number above 0, got -1"),
        ({"low_freq_factor": 0.0}, r"low_freq_factor must be a finite number above 0, got 0\.0"),
        ({"low_freq_factor": 8.0}, r"high_freq_factor must be at least low_freq_factor, got 4\.0 and 8\.0"),
    ],
)
def test_bad_numbers_are_errors_that_name_them(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        Llama3(**options)


def test_the_dict_form_comes_back() -> None:
    rule = Llama3(4, 64, base=500, low_freq_factor=2, high_freq_factor=3)
    assert build_frequencies(rule.to_dict()) == rule != Llama3(4, 64, base=500)
