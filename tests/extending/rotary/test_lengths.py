"""Lengths that a config leaves open, or states so that no factor can be counted from them, are asked for."""

import math
from typing import Any

import pytest

from gnomon.errors import GnomonError
from gnomon.extending.plan import with_edits
from gnomon.extending.rotary.composing import composed
from gnomon.extending.rotary.lengths import lengths_of
from gnomon.extending.rotary.reading import read_rotary
from gnomon.extending.rotary.writing import rotary_plan
from tests.helpers.rotary_folders import tiny

ORIGINAL = "original_max_position_embeddings"
YARN = {"rope_type": "yarn", "factor": 2.0, "rope_theta": 1e4, ORIGINAL: 64}


def _extended(config: dict[str, Any], to: int, method: str = "auto", original: int | None = None) -> dict[str, Any]:
    rotary = read_rotary(config)
    assert rotary is not None
    return with_edits(config, rotary_plan(rotary, composed(rotary, lengths_of(rotary, to, original), method)).config)


def _refused(config: dict[str, Any], to: int, method: str = "auto") -> str:
    with pytest.raises(GnomonError) as error:
        _extended(config, to, method)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_stated_length_beyond_original_times_factor_is_asked_about() -> None:
    config = tiny("llama", max_position_embeddings=512, rope_parameters=YARN)
    assert "from 64 tokens by 2, which reaches 128, and states 512; say with --original" in _refused(config, 1024)
    assert _extended(config, 1024, original=64)["rope_parameters"]["factor"] == 16.0
    assert _extended(config, 1024, original=512)["rope_parameters"]["factor"] == 2.0
    linear = {"rope_type": "linear", "factor": 2.0, ORIGINAL: 64}
    assert "which reaches 128, and states 512" in _refused({**config, "rope_parameters": linear}, 1024)


@pytest.mark.parametrize("value", ["64", -1, 0, 0.5, math.nan, 10**400, [64], True], ids=lambda value: str(value)[:8])
@pytest.mark.parametrize("kind", ["yarn", "dynamic", "linear"])
def test_an_original_length_that_is_none_is_not_passed_over(kind: str, value: Any) -> None:
    block = {"rope_type": kind, "factor": 2.0, "rope_theta": 1e4, ORIGINAL: value}
    said = _refused(tiny("llama", max_position_embeddings=128, rope_parameters=block), 1024)
    assert f"{ORIGINAL} is " in said
    assert "which is no number of tokens" in said
    made = _extended(tiny("llama", max_position_embeddings=128, rope_parameters=block), 1024, original=64)
    assert made["rope_parameters"]["factor"] == 16.0


def test_a_stated_length_that_is_no_number_is_not_taken_for_none() -> None:
    said = _refused(tiny("llama", rope_theta=1e4) | {"max_position_embeddings": "4096"}, 8192)
    assert said.startswith("max_position_embeddings is '4096', which is no number of tokens")


def test_a_phi_3_goes_on_with_ntk_and_keeps_its_original_length() -> None:
    start = tiny("phi3", max_position_embeddings=128, rope_theta=1e4)
    once = _extended(start, 256, "ntk")
    twice, direct = _extended(once, 512, "ntk"), _extended(start, 512, "ntk")
    assert once[ORIGINAL] == twice[ORIGINAL] == direct[ORIGINAL] == 128
    assert twice["rope_theta"] == pytest.approx(direct["rope_theta"], rel=1e-12)
    assert twice["rope_theta"] == pytest.approx(1e4 * 4 ** (16 / 14), rel=1e-12)


def test_another_method_after_ntk_asks_from_where_it_shall_count() -> None:
    once = _extended(tiny("phi3", max_position_embeddings=128, rope_theta=1e4), 256, "ntk")
    assert "--original 256 or --original 128" in _refused(once, 512, "longrope")
    assert "--original 256 or --original 128" in _refused(once, 512)
    assert _extended(once, 512, "longrope", original=128)["rope_parameters"]["factor"] == 4.0
    assert _extended(once, 512, "longrope", original=256)["rope_parameters"]["factor"] == 2.0
    llama = tiny("llama", max_position_embeddings=256, rope_theta=1e4, **{ORIGINAL: 128})
    assert "yarn counts from the trained length" in _refused(llama, 512)


@pytest.mark.parametrize("key", ["beta_fast", "beta_slow", "mscale", "attention_factor"])
@pytest.mark.parametrize("value", [1e308, 1e-300, 10**400], ids=lambda value: str(value)[:8])
def test_numbers_beyond_all_computing_are_extended_or_refused_in_one_sentence(key: str, value: Any) -> None:
    config = tiny("llama", max_position_embeddings=128, rope_parameters={**YARN, key: value})
    assert "\n" not in _said(config)


def _said(config: dict[str, Any]) -> str:
    try:
        _extended(config, 1024)
    except GnomonError as error:
        return str(error)
    return ""
