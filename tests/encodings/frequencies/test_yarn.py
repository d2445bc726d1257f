"""YaRN: the frequencies of NTK-by-parts and the attention factor, in both readings of mscale."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from gnomon.encodings.frequencies import ByParts, YaRN, build_frequencies
from gnomon.encodings.frequencies.yarn import reference
from gnomon.errors import GnomonError
from tests.encodings.frequencies.test_by_parts import OPTIONS
from tests.helpers.rope_init import transformers_rule

MSCALES = st.none() | st.sampled_from([0.0, 0.707, 1.0]) | st.floats(0.0, 2.0)
TEMPERATURES = st.fixed_dictionaries(
    {"attention_factor": st.none() | st.floats(0.1, 3.0), "mscale": MSCALES, "mscale_all_dim": MSCALES}
)


@given(OPTIONS, TEMPERATURES)
def test_table_and_attention_factor_are_those_of_transformers(
    options: dict[str, Any], temperature: dict[str, Any]
) -> None:
    fields = {key: value for key, value in (options | temperature).items() if value is not None}
    base, original = fields.pop("base"), fields.pop("original_max_length")
    theirs, attention = transformers_rule("yarn", 64, base, original_max_position_embeddings=original, **fields)
    ours = YaRN(**options, **temperature)
    assert ours.inverse(64).tolist() == pytest.approx(theirs, rel=1e-12)
    assert ours.attention_factor == pytest.approx(attention, rel=1e-12)


@given(st.floats(1.0, 64.0), TEMPERATURES, st.sampled_from(["pair", "ratio"]))
def test_the_attention_factor_is_the_formula_in_both_readings(
    factor: float, temperature: dict[str, Any], reading: Any
) -> None:
    ours = YaRN(factor, 4096, **temperature, mscale_reading=reading)
    expected = reference(factor, **temperature, mscale_reading=reading)
    assert ours.attention_factor == pytest.approx(expected, rel=1e-12)


def test_mscale_alone_is_read_in_two_ways_and_the_readings_agree_on_a_pair() -> None:
    """Golden numbers of both stacks at factor 4: 1.1386 where transformers ignores it, 1.0980 in the DeepSeek code."""
    alone = {reading: YaRN(4.0, 4096, mscale=0.707, mscale_reading=reading) for reading in ("pair", "ratio")}  # type: ignore[arg-type]
    assert alone["pair"].attention_factor == pytest.approx(1.1386, abs=5e-5)
    assert alone["ratio"].attention_factor == pytest.approx(1.0980, abs=5e-5)
    assert alone["pair"] != alone["ratio"]
    zero = YaRN(4.0, 4096, mscale=0.707, mscale_all_dim=0.0)  # transformers takes zero for absent
    assert zero.attention_factor == alone["pair"].attention_factor
    both = {YaRN(4.0, 64, mscale=0.7, mscale_all_dim=0.7, mscale_reading=r).attention_factor for r in ("pair", "ratio")}  # type: ignore[arg-type]
    assert both == {1.0}


def test_the_ratio_is_that_of_the_deepseek_code() -> None:
    """transformers keeps `yarn_get_mscale` of DeepSeek; the stacks divide one by the other (mscale 1, all_dim 0)."""
    from transformers.models.deepseek_v3.modeling_deepseek_v3 import yarn_get_mscale

    for mscale, all_dim in ((1.0, 1.0), (0.707, None), (None, 0.707), (1.0, 0.707), (None, None), (0.0, 1.0)):
        top = yarn_get_mscale(40.0, 1.0 if mscale is None else mscale)
        expected = top / yarn_get_mscale(40.0, 0.0 if all_dim is None else all_dim)
        ours = YaRN(40.0, 4096, mscale=mscale, mscale_all_dim=all_dim, mscale_reading="ratio")
        assert ours.attention_factor == pytest.approx(expected, rel=1e-12)


def test_the_frequencies_and_bands_are_those_of_by_parts() -> None:
    yarn, parts = YaRN(4.0, 4096, base=5e5, truncate=False), ByParts(4.0, 4096, base=5e5, truncate=False)
    assert yarn.inverse(64).tolist() == parts.inverse(64).tolist()
    assert yarn.bands(64) == parts.bands(64)


def test_a_factor_of_one_changes_nothing() -> None:
    assert YaRN(1.0, 4096, mscale=2.0, mscale_reading="ratio").attention_factor == 1.0
    assert YaRN(4.0, 4096).attention_factor == pytest.approx(0.1 * math.log(4) + 1, rel=1e-15)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attention_factor": 0.0}, r"attention_factor must be a finite number above 0, got 0\.0"),
        ({"mscale": -1.0}, r"mscale must be a finite number of at least 0, or absent, got -1\.0"),
        ({"mscale_all_dim": math.nan}, "mscale_all_dim must be a finite number .* got nan"),
        ({"mscale_reading": "both"}, "mscale_reading is one of pair, ratio, got 'both'"),
        ({"beta_fast": 0.5}, r"beta_fast must be at least beta_slow, got 0\.5 and 1\.0"),
    ],
)
def test_bad_numbers_are_errors_that_name_them(options: dict[str, Any], message: str) -> None:
    with pytest.raises(GnomonError, match=message):
        YaRN(4.0, 4096, **options)


def test_the_dict_form_comes_back() -> None:
    rule = YaRN(4, 64, attention_factor=1.5, mscale=0.5, mscale_reading="ratio")
    assert build_frequencies(rule.to_dict()) == rule
    assert hash(rule) == hash(build_frequencies(rule.to_dict()))
    with pytest.raises(GnomonError, match="'yarn' needs original_max_length"):
        build_frequencies({"kind": "yarn", "factor": 4.0})


def test_truncate_holds_wherever_it_is_written() -> None:
    """transformers 5.24 looks for it at the top of nested parameters, finds nothing, and rounds.

    With the numbers of gpt-oss one pair then turns at 1 / 1.43 of its speed.
    """
    given = {"rope_type": "yarn", "rope_theta": 1.5e5, "factor": 32.0, "original_max_position_embeddings": 4096}
    config = LlamaConfig(hidden_size=128, num_attention_heads=2, max_position_embeddings=131072)
    config.layer_types = ["full_attention"] * config.num_hidden_layers
    config.rope_parameters = {"full_attention": {**given, "truncate": False}}
    nested, _ = ROPE_INIT_FUNCTIONS["yarn"](config, layer_type="full_attention")
    rounded, exact = (YaRN(32.0, 4096, base=1.5e5, truncate=truncate).inverse(64) for truncate in (True, False))
    assert nested.tolist() == pytest.approx(rounded.tolist(), rel=1e-6)
    assert abs(exact / rounded - 1).max() == pytest.approx(0.433, abs=5e-4)
    config.rope_parameters = {**given, "truncate": False}
    flat, _ = ROPE_INIT_FUNCTIONS["yarn"](config)
    assert flat.tolist() == pytest.approx(exact.tolist(), rel=1e-6)
