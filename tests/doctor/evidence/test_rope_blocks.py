"""The rotary blocks of a config."""

from typing import Any

import pytest

from gnomon.doctor.evidence.rope_blocks import RopeBlock, positive, rope_blocks


def test_blocks_of_towers_spellings_and_kinds_are_found_where_they_stand() -> None:
    config = {
        "rope_scaling": {"type": "su"},
        "text_config": {"rope_parameters": {"full_attention": {"rope_type": "linear"}, "sliding_attention": None}},
    }
    found = [(block.where, block.kind, block.rule, block.layer_kind) for block in rope_blocks(config)]
    assert found == [
        ("rope_scaling", "su", "longrope", None),
        ("text_config.rope_parameters.full_attention", "linear", "linear", "full_attention"),
    ]


@pytest.mark.parametrize("block", [None, [], "linear", 4])
def test_what_is_no_mapping_is_no_block(block: Any) -> None:
    assert list(rope_blocks({"rope_scaling": block})) == []


def test_a_block_without_a_kind_is_of_the_default_one() -> None:
    assert RopeBlock("x", {}, {}).kind == "default"
    assert RopeBlock("x", {"rope_type": None, "type": "yarn"}, {}).kind == "yarn"


def test_a_number_is_looked_for_in_the_block_and_then_beside_it() -> None:
    block = RopeBlock("x", {"factor": 2}, {"factor": 3.0, "length": 5})
    assert (block.number("factor"), block.number("length"), block.number("none")) == (2.0, 5.0, None)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (0.5, 0.5),
        (0, None),
        (-1, None),
        (True, None),
        ("3", None),
        (float("nan"), None),
        (float("inf"), None),
    ],
)
def test_only_finite_numbers_above_0_count(value: Any, number: float | None) -> None:
    assert positive(value) == number
