"""Custom frequencies are the list that was given."""

import json

import numpy as np
import pytest

from gnomon.encodings import Rotary, from_json
from gnomon.encodings.frequencies import Bands, Custom, build_frequencies
from gnomon.encodings.frequencies.custom import reference
from gnomon.errors import GnomonError


def test_the_numbers_are_those_of_the_list() -> None:
    given = [1.0, 0.3, 0.0]
    rule = Custom(given, attention_factor=1.25)
    assert rule.inverse(6).tolist() == [reference(i, given) for i in range(3)] == given
    assert rule.inverse(6).dtype == np.float64
    assert (rule.attention_factor, Custom(given).attention_factor) == (1.25, 1.0)
    assert rule.bands(6) == Bands(kept=2, still=1)


def test_neither_the_list_nor_a_result_is_shared() -> None:
    given = [1.0, 0.3]
    rule = Custom(given)
    given[0] = rule.inverse(4)[0] = rule.options["inverse_frequencies"][0] = 7.0
    assert rule.inverse(4).tolist() == [1.0, 0.3]


def test_another_width_is_an_error_that_names_both() -> None:
    with pytest.raises(GnomonError, match="2 custom frequencies turn 4 columns, but the rotated width is 8; give 4"):
        Rotary(8, frequencies=Custom([1.0, 0.5]))


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, -0.1], [float("nan")], [float("inf"), 1.0]])
def test_numbers_that_cannot_turn_are_an_error(values: list[float]) -> None:
    with pytest.raises(GnomonError, match="finite numbers of at least 0, one of them above"):
        Custom(values)
    with pytest.raises(GnomonError, match=r"attention_factor must be a finite number above 0, got 0\.0"):
        Custom([1.0], attention_factor=0.0)


def test_it_is_plain_json_and_comes_back() -> None:
    rule = Custom([1, 0.5], attention_factor=1.5)
    assert build_frequencies(json.loads(json.dumps(rule.to_dict()))) == rule != Custom([1.0, 0.5])
    assert hash(rule) == hash(Custom([1.0, 0.5], attention_factor=1.5))
    again = from_json(Rotary(4, frequencies=rule).to_json())
    assert isinstance(again, Rotary)
    assert again.frequencies == rule
