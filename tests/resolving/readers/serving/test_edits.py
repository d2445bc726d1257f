"""The wanted scaling as people type it, and the file as it then is."""

import json
from typing import Any

import pytest

from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.edits import (
    block_of,
    nested,
    new_form,
    old_flat_form,
    old_form,
    part_of,
    typed,
)
from gnomon.resolving.reading import Wanted

BLOCK = {"rope_type": "linear", "factor": 2.0, "rope_theta": 5e5}
FLAT = {"model_type": "llama", "rope_theta": 1e4, "rope_scaling": {"type": "yarn", "factor": 4.0}}
INNER = {"model_type": "gemma3", "text_config": {"rope_parameters": {"rope_type": "default"}, "hidden_size": 8}}


def given(config: dict[str, Any]) -> Given:
    return Given("made", config=config)


def test_each_form_replaces_whatever_block_is_there() -> None:
    assert new_form(given(FLAT), BLOCK).config == {"model_type": "llama", "rope_theta": 1e4, "rope_parameters": BLOCK}
    inner = {"rope_type": "linear", "factor": 2.0}
    assert old_form(given(FLAT), BLOCK, more=1).config == {
        "model_type": "llama",
        "rope_theta": 5e5,
        "rope_scaling": inner,
        "more": 1,
    }
    assert old_flat_form(given(FLAT), BLOCK).config == {"model_type": "llama", "rope_theta": 1e4, "rope_scaling": BLOCK}


def test_the_inner_config_of_the_text_model_is_edited_where_there_is_one() -> None:
    after = old_form(given(INNER), BLOCK).config
    assert after is not None
    assert after["text_config"] == {
        "hidden_size": 8,
        "rope_scaling": {"rope_type": "linear", "factor": 2.0},
        "rope_theta": 5e5,
    }
    assert json.loads(typed(given(INNER), {"rope_theta": 5e5})) == {"text_config": {"rope_theta": 5e5}}
    assert json.loads(typed(given(FLAT), {"rope_theta": 5e5})) == {"rope_theta": 5e5}
    assert (part_of(INNER), part_of(FLAT), part_of({"text_config": {}})) == ("text_config", "", "")


def test_the_given_file_stays_as_it_was() -> None:
    config = {"text_config": {"rope_scaling": {"factor": 4.0}}}
    new_form(given(config), BLOCK)
    assert config == {"text_config": {"rope_scaling": {"factor": 4.0}}}


def test_a_whole_block_has_kind_and_base_and_no_nulls() -> None:
    wanted = Wanted("llama", "yarn", 1e6, 8192, 64, 64, 4.0, 2048, {"factor": 4.0, "mscale": None, "rope_theta": 1e4})
    assert block_of(wanted) == {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e6}
    assert block_of(wanted, {"beta_fast": 8}) == {"rope_type": "yarn", "beta_fast": 8, "rope_theta": 1e6}


@pytest.mark.parametrize(
    ("config", "answer"),
    [
        (FLAT, False),
        (INNER, False),
        ({"rope_local_base_freq": 1e4}, True),
        ({"text_config": {"rope_local_base_freq": 1e4}}, True),
        ({"rope_parameters": {"full_attention": {"rope_type": "default"}}}, True),
    ],
)
def test_blocks_by_layer_type_are_told_apart(config: dict[str, Any], answer: bool) -> None:
    assert nested(given(config)) == answer
