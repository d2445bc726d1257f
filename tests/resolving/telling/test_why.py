"""Why a stack differs where no key explains it: what was decided otherwise, and by which rule."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.resolving.columns import Compared
from gnomon.resolving.lengths import Lengths
from gnomon.resolving.reading import ALL, LayerReading, Reading, Used
from gnomon.resolving.rules.angles import Always, Angles, Switched, Temperature
from gnomon.resolving.telling.causes import Cause
from gnomon.resolving.telling.why import value_word, why
from tests.helpers.small_stacks import small

ANGLES = Angles(np.array([1.0, 0.5]))
LAYER = LayerReading(ALL, 4, 4, 4.0, "yarn", "half", Always(ANGLES))


def said(
    *used: Used,
    reference: tuple[Used, ...] = (),
    layer: LayerReading = LAYER,
    cause: Cause | None = None,
    **fields: Any,
) -> str:
    ours = Reading("small", "obeys", "run", (layer,), used=used, **fields)
    theirs = Reading("other", "1", "run", (LAYER,), used=reference)
    return why(Compared(small("obeys"), ours, theirs, Lengths((8,), 8)), cause)


def test_the_first_number_that_is_decided_otherwise_is_named_with_its_keys() -> None:
    mine = (Used("base", 1e4, "rope_theta"), Used("factor", 1.25, "original"), Used("ramp", 7, "x"))
    theirs = (Used("base", 10000, "default"), Used("factor", 4.0, "factor"), Used("ramp", 8, "y"))
    assert said(*mine, reference=theirs) == "computes with factor 1.25 (`original`), the reference with 4 (`factor`)"


def test_what_a_key_of_the_file_decides_comes_before_two_defaults() -> None:
    mine = (Used("width", 0, "default"), Used("factor", 1.25, "original"))
    theirs = (Used("width", 128, "default"), Used("factor", 4.0, "factor"))
    assert said(*mine, reference=theirs).startswith("computes with factor 1.25")
    assert said(mine[0], reference=theirs[:1]) == (
        "computes with width 0 (its own default), the reference with 128 (its own default)"
    )


def test_another_rule_comes_before_two_defaults_and_keys_that_are_passed_over_too() -> None:
    mine, theirs = (Used("width", 0),), (Used("width", 128), Used("low", 1.0, "rope_scaling.low"))
    assert said(*mine, reference=theirs, layer=replace(LAYER, rule="linear")).startswith("goes by another scaling")
    part = Cause("in part", (("rope_scaling.low", 1.0),))
    assert said(*mine, reference=theirs, cause=part) == "passes over `rope_scaling.low: 1`"
    assert said(*mine, reference=theirs).startswith("computes with width 0")


def test_the_cap_and_what_only_one_decides_are_no_reason() -> None:
    mine, theirs = (Used("cap", 1, "a"), Used("alpha", 2, "b")), (Used("cap", 2, "a"),)
    assert said(*mine, reference=theirs) == "goes by a rule of its own"


def test_values_of_several_kinds_of_layers_are_held_against_each_other_as_sets() -> None:
    both = (Used("base", 1e6, "full"), Used("base", 1e4, "sliding"))
    assert said(*reversed(both), reference=both) == "goes by a rule of its own"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"rule": "default"}, "goes by another scaling (default; the reference: yarn)"),
        (
            {"schedule": Switched(ANGLES, ANGLES, 8, "always", "long list always")},
            "has a switch of its own (long list always)",
        ),
        ({"softmax": 0.5}, "goes by another multiplier of the softmax scale (0.5; the reference: 1)"),
        (
            {"temperature": Temperature(0.1, 8)},
            "has a temperature of the position of its own (1 + 0.1 * ln(1 + floor(position / 8)))",
        ),
    ],
)
def test_another_rule_is_named(fields: dict[str, Any], words: str) -> None:
    assert said(layer=replace(LAYER, **fields)) == words


def test_values_are_as_in_the_file_and_not_too_long() -> None:
    assert value_word(None) == "None"
    assert value_word(1e6) == "1000000"
    assert len(value_word([1.0] * 64)) <= 40


def test_what_the_reference_alone_has_is_lacking() -> None:
    switched = replace(LAYER, schedule=Switched(ANGLES, ANGLES, 8, "always", "long list always"))
    ours, theirs = (Reading(name, "1", "run", (each,)) for name, each in (("small", LAYER), ("other", switched)))
    said = why(Compared(small("obeys"), ours, theirs, Lengths((8,), 8)), None)
    assert said == "lacks the reference's switch (long list always)"
