"""YaRN by named choices: each choice against numbers worked out apart in float64."""

from dataclasses import replace
from typing import Any

import pytest

from gnomon.resolving.rules.angles import Schedule
from gnomon.resolving.rules.choices import Choices
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import yarn, yarn_magnitude
from gnomon.resolving.stopping import StackStops

CHOICES = Choices(yarn_factor="factor", yarn_ramp="original", yarn_ends="truncate", yarn_magnitude="transformers")
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
    found = yarn(QWEN3, block(), choices)
    assert shares(found, QWEN3) == pytest.approx(expected, abs=1e-6)
    assert found.at(1, 1).magnitude == pytest.approx(magnitude, abs=1e-6)


def test_truncate_is_obeyed_by_one_choice_and_lost_by_the_others() -> None:
    obeyed = block(truncate=False)
    assert shares(yarn(QWEN3, obeyed, CHOICES), QWEN3) == pytest.approx(FOUR_EXACT, abs=1e-6)
    passed = block(truncate=False)
    found = yarn(QWEN3, passed, replace(CHOICES, yarn_ends="rounded"))
    assert shares(found, QWEN3) == pytest.approx(FOUR, abs=1e-6)
    assert ("rope_scaling.truncate", "the ends of the ramp are always rounded") in [
        (item.key, item.why) for item in passed.ignored()
    ]


def test_the_ratio_of_the_lengths_loses_the_factor_and_says_so() -> None:
    keys = block()
    yarn(QWEN3, keys, replace(CHOICES, yarn_factor="ratio"))
    [lost] = [item for item in keys.ignored() if item.key == "rope_scaling.factor"]
    assert lost.why == "longest / original length = 1.25 is taken"
    assert (1.25, "rope_scaling.original_max_position_embeddings") in [
        (item.value, item.key) for item in keys.used() if item.what == "factor"
    ]


def test_a_factor_that_is_not_given_is_the_ratio_of_the_lengths() -> None:
    keys = Keys({"rope_type": "yarn", "factor": None})
    assert shares(yarn(QWEN3, keys, CHOICES), QWEN3) == pytest.approx(RATIO, abs=1e-6)
    with pytest.raises(StackStops, match="YaRN lacks a factor"):
        yarn(replace(QWEN3, original=None), keys, CHOICES)


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
    found = yarn_magnitude(4.0, keys, replace(CHOICES, yarn_magnitude=reading))
    assert found == pytest.approx(expected, abs=1e-6)
