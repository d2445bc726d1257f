"""Remedies are read again before they are told; without one, what brings the stack much nearer."""

from typing import Any

from gnomon.report.resolved.document import Mend
from gnomon.resolving.given import Given
from gnomon.resolving.telling.mending import mended, wanted
from gnomon.resolving.telling.words import sentences
from tests.helpers.small_stacks import GPT_OSS, side_by_side

YARN = {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}


def config(**values: Any) -> Given:
    return Given("a config", config={**GPT_OSS, **values})


def test_the_first_remedy_that_makes_them_agree_is_told_and_none_that_does_not() -> None:
    assert mended(side_by_side(config(), "rounds"), config()) == Mend("add exact: true for yarn 32")
    assert mended(side_by_side(config(), "stops"), config()) == Mend("add exact: true for yarn 32")
    assert mended(side_by_side(config(), "plain"), config()) == Mend()
    assert mended(side_by_side(config(), "obeys"), config()) is None
    assert mended(side_by_side(config(), "absent"), config()) is None
    assert mended(side_by_side(config(), "rounds", "stops"), config()) is None


def test_what_brings_a_stack_much_nearer_is_told_with_what_is_left() -> None:
    """An edit after which the ends of the ramp are still exact leaves 24 instead of 69 radians or so."""
    compared = side_by_side(config(rope_scaling={**YARN, "truncate": True}), "deaf", "obeys")
    found = mended(compared, config(rope_scaling={**YARN, "truncate": True}))
    assert found is not None
    assert (found.text, found.nearest) == ("", "add heard: true")
    assert found.left.startswith("pair 17 is off by 43%")  # 0.072688 of its speed where 0.128125 is wanted
    said = sentences(compared, None, found)[-1]
    assert "that gnomon knows. Nearest (pair 17 is off by 43%" in said
    assert said.endswith("): add heard: true")


def test_what_is_wanted_is_what_the_reference_computes_in_the_words_of_transformers_5() -> None:
    found = wanted(config(), side_by_side(config(), "obeys").reference, 131072)
    assert found is not None
    assert (found.model_type, found.rule, found.base, found.cap) == ("gpt_oss", "yarn", 150000, 131072)
    assert (found.head_dim, found.rotary_dim, found.factor, found.original) == (64, 64, 32.0, 4096)
    assert found.block is not None
    assert found.block["truncate"] is False


def test_nothing_is_wanted_by_senseless_numbers() -> None:
    for factor in (1e308, -1.0):
        given = config(rope_scaling={**YARN, "factor": factor})
        assert wanted(given, side_by_side(config(), "obeys").reference, 131072) is None
