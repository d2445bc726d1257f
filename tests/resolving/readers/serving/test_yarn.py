"""YaRN's magnitude in the words of three kinds of stacks, and the authors' extrapolation factor."""

import math
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.readers.serving.layers import Layer
from gnomon.resolving.readers.serving.yarn import Magnitude, times, with_extrapolation
from gnomon.resolving.readers.transformers5 import standardised
from gnomon.resolving.reading import Wanted
from gnomon.resolving.rules import formulas
from gnomon.resolving.rules.angles import Always, Angles, Switched
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.rules.scaling import Scaled
from gnomon.resolving.rules.yarn import yarn_magnitude
from gnomon.resolving.stacks.lmdeploy import PYTORCH
from gnomon.resolving.stacks.trt_llm import NOW as TRT
from gnomon.resolving.stacks.vllm import BEFORE_FACTOR
from gnomon.resolving.stopping import StackStops

PAIRS: list[dict[str, Any]] = [
    {},
    {"attention_factor": 1.3},
    {"attention_factor": 1.0, "mscale": 2.0, "mscale_all_dim": 1.0},
    {"mscale": 0.707, "mscale_all_dim": 0.5},
    {"mscale": 0.707, "mscale_all_dim": 0},
    {"mscale": 0.707},
]


def magnitude_of(values: dict[str, Any]) -> Magnitude:
    return Magnitude(Wanted("llama", "yarn", 1e4, 8192, 64, 64, 4.0, 2048, {"factor": 4.0, **values}))


@pytest.mark.parametrize("values", PAIRS)
def test_three_kinds_of_stacks_compute_the_wanted_magnitude_from_its_three_forms(values: dict[str, Any]) -> None:
    wanted = magnitude_of(values)
    g = {name: 0.1 * (values.get(name) or 1.0) * math.log(4) + 1 for name in ("mscale", "mscale_all_dim")}
    both = values.get("mscale") and values.get("mscale_all_dim")
    usual = g["mscale"] / g["mscale_all_dim"] if both else 0.1 * math.log(4) + 1
    assert wanted.value == pytest.approx(values.get("attention_factor") or usual)
    for choices, block in (
        (PYTORCH, wanted.as_given()),
        (BEFORE_FACTOR, wanted.as_multiplier()),
        (TRT, wanted.as_pair()),
    ):
        assert yarn_magnitude(4.0, Keys(block), choices) == pytest.approx(wanted.value)


def test_nothing_is_added_where_the_usual_magnitude_is_wanted() -> None:
    wanted = magnitude_of({"mscale": 0.707})
    assert wanted.value == pytest.approx(0.1 * math.log(4) + 1)
    assert wanted.as_multiplier() == wanted.as_pair() == {"factor": 4.0}


@pytest.mark.parametrize(("rule", "block"), [("linear", {"factor": 4.0}), ("yarn", {"factor": 1.0}), ("yarn", {})])
def test_other_kinds_and_factors_up_to_1_have_no_magnitude(rule: str, block: dict[str, Any]) -> None:
    with pytest.raises(StackStops, match="no YaRN block"):
        Magnitude(Wanted("llama", rule, 1e4, 8192, 64, 64, 4.0, 2048, block))


def layer_with(**block: Any) -> Layer:
    config = {"model_type": "llama", "hidden_size": 32, "num_attention_heads": 2, "rope_scaling": block}
    standard, file = standardised(config), Keys(config)
    return Layer(standard, standard.blocks[0], file, file, standard.blocks[0].keys(file))


@pytest.mark.parametrize("extent", [1.0, 0.25, 0.0])
def test_the_extrapolation_factor_weighs_what_is_kept(extent: float) -> None:
    over = Scaled(100.0, 16, 64.0, 64.0)
    inverse = formulas.yarn(over.plain, 4.0, 2.0, 5.0, rounded=True, most=15)
    layer = layer_with(rope_type="yarn", factor=4.0, extrapolation_factor=extent)
    found = with_extrapolation(Always(Angles(inverse, 1.5)), over, layer).at(1, 1)
    ramp = np.clip((np.arange(8) - 2) / 3, 0, 1)
    kept = (1 - ramp) * extent
    assert found.inverse == pytest.approx(over.plain / 4 * (1 - kept) + over.plain * kept)
    assert found.magnitude == 1.5


def test_a_share_multiplies_the_magnitude_of_fixed_angles_alone() -> None:
    angles = Angles(np.ones(2), 1.5)
    assert times(Always(angles), 2.0).at(1, 1).magnitude == 3.0
    switched = Switched(angles, angles, 8, "sequence", "")
    assert times(switched, 2.0) is switched
