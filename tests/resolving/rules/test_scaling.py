"""From a rotary block to angles by named choices: each choice against numbers worked out apart in float64."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.rules import scaling
from gnomon.resolving.rules.angles import Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.stopping import StackStops

CHOICES = Choices("raw", "rope_type")
#: the snippet of Qwen's model card on Qwen3-8B: the stated length stays at 40960
QWEN3 = Scaled(1e6, 128, longest=40960, original=32768, served=131072)
CARD = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}
PAIRS = [23, 24, 28, 32, 36, 39, 40, 41, 63]
#: multipliers of those pairs, by factor, ramp length and rounding
FOUR = [1, 0.955882, 0.779412, 0.602941, 0.426471, 0.294118, 0.25, 0.25, 0.25]
FOUR_EXACT = [1, 0.981125, 0.794266, 0.607408, 0.420549, 0.280406, 0.25, 0.25, 0.25]
FOUR_OVER_MAXIMUM = [1, 1, 0.823529, 0.647059, 0.470588, 0.338235, 0.294118, 0.25, 0.25]
FOUR_OVER_SERVED = [1, 1, 1, 0.911765, 0.735294, 0.602941, 0.558824, 0.514706, 0.25]
RATIO = [1, 0.988235, 0.941176, 0.894118, 0.847059, 0.811765, 0.8, 0.8, 0.8]
RATIO_OVER_MAXIMUM = [1, 1, 0.952941, 0.905882, 0.858824, 0.823529, 0.811765, 0.8, 0.8]


def shares(schedule: Schedule, over: Scaled, length: int = 1, served: int = 1) -> list[float]:
    return [float((schedule.at(length, served).inverse / over.plain)[pair]) for pair in PAIRS]


def block(**values: Any) -> Keys:
    return Keys({"rope_scaling": {**CARD, **values}}).part("rope_scaling")


@pytest.mark.parametrize(
    ("choices", "expected", "magnitude"),
    [
        (CHOICES, FOUR, 1.138629),
        (replace(CHOICES, yarn_ends="exact"), FOUR_EXACT, 1.138629),
        (replace(CHOICES, yarn_ends="rounded"), FOUR, 1.138629),
        (replace(CHOICES, yarn_ramp="maximum"), FOUR_OVER_MAXIMUM, 1.138629),
        (replace(CHOICES, yarn_ramp="served"), FOUR_OVER_SERVED, 1.138629),
        (replace(CHOICES, yarn_factor="ratio"), RATIO, 1.022314),
        (replace(CHOICES, yarn_factor="ratio", yarn_ramp="maximum"), RATIO_OVER_MAXIMUM, 1.022314),
    ],
)
def test_the_choices_of_yarn_on_the_card_of_qwen3(choices: Choices, expected: list[float], magnitude: float) -> None:
    found = scaling.yarn(QWEN3, block(), choices)
    assert shares(found, QWEN3) == pytest.approx(expected, abs=1e-6)
    assert found.at(1, 1).magnitude == pytest.approx(magnitude, abs=1e-6)


def test_truncate_is_obeyed_by_one_choice_and_lost_by_the_others() -> None:
    obeyed = block(truncate=False)
    assert shares(scaling.yarn(QWEN3, obeyed, CHOICES), QWEN3) == pytest.approx(FOUR_EXACT, abs=1e-6)
    passed = block(truncate=False)
    found = scaling.yarn(QWEN3, passed, replace(CHOICES, yarn_ends="rounded"))
    assert shares(found, QWEN3) == pytest.approx(FOUR, abs=1e-6)
    assert ("rope_scaling.truncate", "the ends of the ramp are always rounded") in [
        (item.key, item.why) for item in passed.ignored()
    ]


def test_the_ratio_of_the_lengths_loses_the_factor_and_says_so() -> None:
    keys = block()
    scaling.yarn(QWEN3, keys, replace(CHOICES, yarn_factor="ratio"))
    [lost] = [item for item in keys.ignored() if item.key == "rope_scaling.factor"]
    assert lost.why == "longest / original length = 1.25 is taken"
    assert (1.25, "rope_scaling.original_max_position_embeddings") in [
        (item.value, item.key) for item in keys.used() if item.what == "factor"
    ]


def test_a_factor_that_is_not_given_is_the_ratio_of_the_lengths() -> None:
    keys = Keys({"rope_type": "yarn", "factor": None})
    assert shares(scaling.yarn(QWEN3, keys, CHOICES), QWEN3) == pytest.approx(RATIO, abs=1e-6)
    with pytest.raises(StackStops, match="YaRN lacks a factor"):
        scaling.yarn(replace(QWEN3, original=None), keys, CHOICES)


@pytest.mark.parametrize(
    ("reading", "values", "expected"),
    [  # the factor is 4: g(1) = 1.138629, g(0.707) = 1.098011
        ("transformers", {"attention_factor": 1.0, "mscale": 1, "mscale_all_dim": 1}, 1.0),
        ("transformers", {"mscale": 0.707, "mscale_all_dim": 0}, 1.138629),
        ("transformers", {"mscale": 1, "mscale_all_dim": 1}, 1.0),
        ("not null", {"attention_factor": 1.0}, 1.138629),
        ("not null", {"mscale": 0.707, "mscale_all_dim": 0}, 1.098011),
        ("not null", {"mscale": 0.707}, 1.138629),
        ("ratio", {"attention_factor": 1.0}, 1.138629),
        ("ratio", {"mscale": 0.707}, 1.098011),
        ("factor", {"attn_factor": 2.0}, 2 * 1.138629),
        ("factor", {"attention_factor": 1.0, "mscale": 0.707, "mscale_all_dim": 0.707}, 1.138629),
    ],
)
def test_the_readings_of_yarns_magnitude(reading: Any, values: dict[str, float], expected: float) -> None:
    keys = Keys(values)
    found = scaling.yarn_magnitude(4.0, keys, replace(CHOICES, yarn_magnitude=reading))
    assert found == pytest.approx(expected, abs=1e-6)


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
    assert last("served", 5, 2048) == last("plain", 9000, 9000) == pytest.approx(1e4 ** (-126 / 128), rel=1e-9)
    assert last("alpha", 5, 5) == pytest.approx(1e4 ** (-126 / 128), rel=1e-9)  # alpha is 1 where there is none
    assert last("alpha", 5, 5, alpha=1000) == pytest.approx(11158839.925 ** (-126 / 128), rel=1e-8)
    with pytest.raises(StackStops, match="does not know dynamic"):
        last("error", 5, 5)


def test_alpha_without_a_factor_is_taken_by_every_choice() -> None:
    found = scaling.dynamic(LLAMA2, Keys({"alpha": 2.5}), CHOICES)
    assert found.at(5, 5).inverse[-1] == pytest.approx(25366.2645 ** (-126 / 128), rel=1e-8)


PHI3 = Scaled(1e4, 4, longest=131072, original=4096, served=16384)
LISTS = {"short_factor": [1.0, 2.0], "long_factor": [4.0, 8.0]}


@pytest.mark.parametrize(
    ("choice", "length", "served", "long"),
    [
        ("sequence", 4096, 131072, False),
        ("sequence", 4097, 131072, True),
        ("served", 5, 131072, True),
        ("served", 5, 4096, False),
        ("always", 5, 5, True),
    ],
)
def test_longrope_switches_by_its_choice(choice: Any, length: int, served: int, long: bool) -> None:
    found = scaling.longrope(PHI3, Keys(LISTS), replace(CHOICES, longrope_switch=choice))
    divisors = LISTS["long_factor" if long else "short_factor"]
    assert found.at(length, served).inverse == pytest.approx(np.array([1.0, 0.01]) / divisors)


@pytest.mark.parametrize(
    ("choice", "values", "expected"),
    [
        ("factor or lengths", {}, 1.190238),
        ("factor or lengths", {"factor": 16.0}, 1.154701),  # sqrt(1 + ln 16 / ln 4096)
        ("factor or lengths", {"factor": 16.0, "attention_factor": 1.5}, 1.5),
        ("lengths", {"factor": 16.0, "attention_factor": 1.5}, 1.190238),
        ("served", {}, 1.080123),
        ("whole lengths", {}, 1.190238),
        ("none", {}, 1.0),
    ],
)
def test_the_magnitude_of_longrope(choice: Any, values: dict[str, float], expected: float) -> None:
    found = scaling.longrope_magnitude(PHI3, Keys(values), replace(CHOICES, longrope_ratio=choice))
    assert found == pytest.approx(expected, abs=1e-6)


def test_whole_lengths_are_cut_down() -> None:
    over = replace(PHI3, longest=3.9 * 4096)
    found = scaling.longrope_magnitude(over, Keys({}), replace(CHOICES, longrope_ratio="whole lengths"))
    assert found == pytest.approx((1 + np.log(3) / np.log(4096)) ** 0.5)


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
    with pytest.raises(StackStops, match="longrope lacks"):
        scaling.longrope(LLAMA2, Keys({}), CHOICES)
