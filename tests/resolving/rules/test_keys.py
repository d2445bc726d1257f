"""Keys remember which of them were taken, which lost to another, and which nobody asked for."""

from typing import Any

import pytest

from gnomon.resolving.rules.keys import Keys, position_keys
from gnomon.resolving.stopping import StackStops


def test_the_first_name_with_a_value_wins_and_the_others_lose() -> None:
    keys = Keys({"rope_theta": None, "rotary_emb_base": 7.0, "rope_base": 9.0})
    assert keys.number("base", "rope_theta", "rotary_emb_base", "rope_base") == 7.0
    assert [(item.what, item.value, item.key) for item in keys.used()] == [("base", 7.0, "rotary_emb_base")]
    assert [(item.key, item.value, item.why) for item in keys.ignored()] == [("rope_base", 9.0, "rotary_emb_base wins")]


def test_a_default_is_noted_as_one() -> None:
    keys = Keys({})
    assert keys.number("base", "rope_theta", default=1e4) == 1e4
    assert keys.take("nothing", "absent") is None
    assert [(item.what, item.value, item.key) for item in keys.used()] == [("base", 1e4, "default")]


def test_parts_share_one_record_and_carry_their_path() -> None:
    keys = Keys({"text_config": {"rope_scaling": {"factor": 4.0, "truncate": False}}, "rope_theta": 5e5})
    part = keys.part("text_config")
    assert part.part("rope_scaling").number("factor", "factor") == 4.0
    assert part.number("again", "rope_scaling.factor") == 4.0
    assert [item.key for item in keys.used()] == ["text_config.rope_scaling.factor"] * 2
    assert {item.key for item in keys.ignored()} == {"text_config.rope_scaling.truncate", "rope_theta"}


def test_a_part_that_is_no_mapping_is_empty() -> None:
    assert Keys({"rope_scaling": 4}).part("rope_scaling").values == {}
    assert not Keys({"rope_scaling": 4}).has("rope_scaling.factor")
    assert Keys({"rope_scaling": {"factor": None}}).has("rope_scaling.factor")


def test_a_key_lost_on_purpose_says_why_unless_it_is_taken_or_not_there() -> None:
    keys = Keys({"rope_scaling": {"truncate": False, "factor": 4.0}})
    block = keys.part("rope_scaling")
    block.lose("truncate", "always rounded")
    block.lose("factor", "the ratio wins")
    block.lose("beta_fast", "fixed")
    block.number("factor", "factor")
    assert [(item.key, item.why) for item in keys.ignored()] == [("rope_scaling.truncate", "always rounded")]


def test_gathered_values_are_told_by_the_places_they_came_from() -> None:
    keys = Keys({"rope_theta": 5e5, "rope_scaling": {"type": "yarn"}})
    view = keys.laid({"rope_theta": 5e5, "beta_fast": 32.0}, {"rope_theta": "rope_theta"})
    view.number("base", "rope_theta")
    view.number("beta_fast", "beta_fast")
    assert [(item.what, item.key) for item in keys.used()] == [("base", "rope_theta"), ("beta_fast", "default")]
    assert [item.key for item in keys.ignored()] == ["rope_scaling.type"]


@pytest.mark.parametrize("value", ["4.0", float("nan"), float("inf"), True, [4.0], {}])
def test_what_is_no_number_stops_the_stack(value: Any) -> None:
    with pytest.raises(StackStops, match=r"rope_scaling\.factor is .*, which is no number"):
        Keys({"rope_scaling": {"factor": value}}).part("rope_scaling").number("factor", "factor")


def test_whole_numbers_texts_and_lists_are_held_to_their_kind() -> None:
    keys = Keys({"n": 4.0, "half": 4.5, "type": 7, "list": [1, 2.5], "bad": [1, "2"], "long": "abc"})
    assert keys.whole("n", "n") == 4
    assert isinstance(keys.whole("n", "n"), int)
    assert keys.numbers("list", "list") == (1.0, 2.5)
    assert keys.numbers("none", "absent") is None
    for ask, name in ((keys.whole, "half"), (keys.text, "type"), (keys.numbers, "bad"), (keys.numbers, "long")):
        with pytest.raises(StackStops, match=name):
            ask("it", name)  # type: ignore[operator]


def test_position_keys_go_into_blocks_of_each_layer_kind_and_parts_and_leave_nulls_out() -> None:
    config = {
        "vocab_size": 9,
        "rope_theta": None,
        "max_position_embeddings": 64,
        "text_config": {"rope_parameters": {"full_attention": {"rope_type": "linear", "factor": None}}},
        "vision_config": {"rope_theta": 1e4},
    }
    assert list(position_keys(config)) == [
        ("max_position_embeddings", 64),
        ("text_config.rope_parameters.full_attention.rope_type", "linear"),
    ]
