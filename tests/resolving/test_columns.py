"""Readings become columns: kinds of layers that one side does not know, numbers at each length, verdicts."""

from dataclasses import replace
from typing import Any

import numpy as np

from gnomon.resolving.columns import Compared, agree, column, differences, kinds_of
from gnomon.resolving.given import Given
from gnomon.resolving.lengths import Lengths
from gnomon.resolving.reading import ALL, LayerReading, Reading
from gnomon.resolving.rules.angles import Always, Angles, Switched, Temperature
from tests.helpers.small_stacks import GPT_OSS, side_by_side, small

LENGTHS = Lengths((8, 9, 64), 64)


def layer(kind: str = ALL, speed: float = 1.0, **fields: Any) -> LayerReading:
    schedule = Always(Angles(np.array([1.0, speed / 2])))
    usual: dict[str, Any] = {"base": 4.0, "rule": "default", "layout": "half", "schedule": schedule}
    return LayerReading(kind, 4, 4, **{**usual, **fields})


def reading(*layers: LayerReading, **fields: Any) -> Reading:
    return Reading("small", "obeys", "by reading", layers, **fields)


def test_a_stack_that_knows_one_kind_is_held_against_every_kind_of_the_reference() -> None:
    reference = reading(layer("full"), layer("sliding", 1.5))
    found = differences(reading(layer()), reference, LENGTHS)
    assert [(each.kind, each.length) for each in found] == [
        (kind, n) for kind in ("full", "sliding") for n in (8, 9, 64)
    ]
    assert [each.equal for each in found] == [True] * 3 + [False] * 3
    assert kinds_of(reference, reading(layer())) == ("full", "sliding")
    assert kinds_of(reading(layer()), reading(layer())) == (ALL,)


def test_kinds_that_only_one_side_knows_are_not_comparable() -> None:
    found = differences(reading(layer("chunked")), reading(layer("full")), LENGTHS)
    assert {each.kind: each.incomparable for each in found} == {
        "full": "the engine knows no such kind of layer",
        "chunked": "the reference knows no such kind of layer",
    }


def test_nothing_is_compared_unless_both_serve() -> None:
    assert differences(reading(refusal="no"), reading(layer()), LENGTHS) == ()
    assert not agree(reading(layer()), reading(absent="no"), LENGTHS)
    assert agree(reading(layer()), reading(layer()), LENGTHS)


def test_verdicts() -> None:
    pair = small("obeys")
    verdict = {
        "equal": Compared(pair, reading(layer()), reading(layer()), LENGTHS),
        "differs": Compared(pair, reading(layer(speed=2.0)), reading(layer()), LENGTHS),
        "stops": Compared(pair, reading(refusal="no"), reading(layer()), LENGTHS),
        "absent": Compared(pair, reading(absent="no"), reading(layer()), LENGTHS),
        "unknown": Compared(pair, reading(layer()), reading(refusal="no"), LENGTHS),
    }
    assert {name: compared.verdict for name, compared in verdict.items()} == {name: name for name in verdict}
    assert column(verdict["equal"], is_reference=True).verdict == "reference"


def test_a_column_has_the_numbers_at_every_length_and_shares_equal_frequencies() -> None:
    short, long = Angles(np.array([1.0, 0.5]), 1.0), Angles(np.array([0.5, np.nan]), 2.0)
    switched = layer(
        schedule=Switched(short, long, 8, "sequence", "long above 8"),
        temperature=Temperature(0.1, 32, 1),
        softmax=0.5,
    )
    [found] = column(Compared(small("obeys"), reading(switched), reading(layer()), LENGTHS)).layers
    assert [(each.lengths, each.inverse) for each in found.frequencies] == [((8,), (1.0, 0.5)), ((9, 64), (0.5, None))]
    assert [(scale.length, scale.magnitude) for scale in found.scales] == [(8, 1.0), (9, 2.0), (64, 2.0)]
    assert found.scales[1].logits == 2.0**2 * 0.5
    assert found.switch == "long above 8"
    assert found.temperature == "1 + 0.1 * ln(1 + floor((position + 1) / 32))"


def test_layers_that_do_not_turn_have_no_frequencies() -> None:
    still = replace(layer(), rotary_dim=0, base=None)
    [found] = column(Compared(small("obeys"), reading(still), reading(still), LENGTHS)).layers
    assert found.frequencies == ()
    assert [scale.magnitude for scale in found.scales] == [1.0] * 3


def test_provenance_is_carried_over() -> None:
    found = column(side_by_side(Given("a", config=GPT_OSS), "rounds"))
    assert ("factor", 32.0, "rope_scaling.factor") in [(it.what, it.value, it.key) for it in found.used]
    assert [(it.key, it.value) for it in found.ignored] == [("rope_scaling.truncate", False)]
    assert (found.cap, found.sure, found.sources, found.since) == (131072, "by reading", "this file", "always")
