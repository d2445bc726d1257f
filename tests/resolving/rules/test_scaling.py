"""From a rotary block to angles by named choices: each choice against numbers worked out apart in float64."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.stopping import StackStops

CHOICES = Choices(dynamic="sequence")
LLAMA2 = Scaled(1e4, 128, longest=2048, original=None)


@pytest.mark.parametrize(
    ("length", "served", "base"),
    [(1024, 8192, 1e4), (2048, 8192, 1e4), (3072, 8192, 30527.736749), (8192, 8192, 135401.973042)],
)
def test_dynamic_by_the_sequence(length: int, served: int, base: float) -> None:
    found = scaling.dynamic(LLAMA2, Keys({"factor": 4.0}), CHOICES)
    assert found.at(length, served).inverse[-1] == pytest.approx(base ** (-126 / 128), rel=1e-9)


def test_dynamic_by_the_other_choices() -> None:
    def last(choice: Any, length: int, served: int, **values: float) -> float:
        found = scaling.dynamic(LLAMA2, Keys({"factor": 4.0, **values}), replace(CHOICES, dynamic=choice))
        return float(found.at(length, served).inverse[-1])

    assert last("constant", 5, 5) == pytest.approx(135401.973042 ** (-126 / 128), rel=1e-9)
    assert last("served", 5, 8192) == pytest.approx(135401.973042 ** (-126 / 128), rel=1e-9)
    assert last("served", 5, 2048) == pytest.approx(1e4 ** (-126 / 128), rel=1e-9)
    assert last("alpha", 5, 5) == pytest.approx(1e4 ** (-126 / 128), rel=1e-9)  # alpha is 1 where there is none
    assert last("alpha", 5, 5, alpha=1000) == pytest.approx(11158839.925 ** (-126 / 128), rel=1e-8)


def test_alpha_without_a_factor_is_taken_by_every_choice() -> None:
    found = scaling.dynamic(LLAMA2, Keys({"alpha": 2.5}), CHOICES)
    assert found.at(5, 5).inverse[-1] == pytest.approx(25366.2645 ** (-126 / 128), rel=1e-8)


def test_a_stretched_base_and_one_that_is_not_a_number() -> None:
    assert scaling.stretched(LLAMA2, 13.0).inverse[1] ** -64 == pytest.approx(135401.973042)
    assert scaling.by_alpha(LLAMA2, 1000.0).at(1, 1).inverse[1] ** -64 == pytest.approx(11158839.925)
    assert np.isnan(scaling.stretched(LLAMA2, -0.5).inverse).all()
    with pytest.raises(StackStops, match="zero"):
        scaling.stretched(LLAMA2, 0.0)
    with pytest.raises(StackStops, match="an alpha of -2 makes no base"):
        scaling.by_alpha(LLAMA2, -2.0)


def test_linear_and_llama3_and_what_they_lack() -> None:
    assert scaling.linear(LLAMA2, Keys({"factor": 4.0})).at(1, 1).inverse == pytest.approx(LLAMA2.plain / 4)
    over = Scaled(5e5, 128, longest=131072, original=8192)
    bands = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    share = scaling.llama3(over, Keys(bands)).at(1, 1).inverse / over.plain
    assert share[28:36] == pytest.approx(
        [1, 0.828168, 0.643743, 0.493507, 0.371122, 0.271425, 0.190211, 0.125], abs=1e-6
    )
    with pytest.raises(StackStops, match="lacks a factor"):
        scaling.linear(LLAMA2, Keys({}))
    with pytest.raises(StackStops, match="llama3 lacks"):
        scaling.llama3(over, Keys({"factor": 8.0}))
    defaults = scaling.llama3(replace(over, original=None), Keys({}), factor=8.0, low=1.0, high=4.0, original=8192)
    assert defaults.at(1, 1).inverse / over.plain == pytest.approx(share)
