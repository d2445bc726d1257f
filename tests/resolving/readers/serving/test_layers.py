"""What serving stacks share: keys over several layers, numbers that overflow, widths, angles that are not numbers."""

from typing import Any

import numpy as np
import pytest

from gnomon.adapters.families.config_reader import Found
from gnomon.resolving.given import Given
from gnomon.resolving.readers.serving.caps import whole_cap
from gnomon.resolving.readers.serving.layers import Layer, Turning, config_of, ignored_by_all, layers, view_at
from gnomon.resolving.readers.serving.numbers import arithmetic, number, width
from gnomon.resolving.readers.transformers5 import standardised
from gnomon.resolving.reading import Ignored
from gnomon.resolving.rules.angles import Always, Angles, Growing
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import NoSuchModel, StackStops

GEMMA = {
    "model_type": "gemma3_text",
    "hidden_size": 64,
    "num_attention_heads": 2,
    "head_dim": 16,
    "rope_theta": 5e5,
    "rope_local_base_freq": 100.0,
    "rope_scaling": {"rope_type": "linear", "factor": 2.0, "beta_fast": 8},
}


def test_a_key_counts_as_ignored_where_no_layer_took_it() -> None:
    def turn(layer: Layer) -> Turning:
        base = layer.keys.number("base", "rope_theta")
        layer.keys.lose("beta_fast", "no ramp here")
        if layer.block.kind == "full_attention":
            layer.keys.number("factor", "factor")
        return Turning("default", base, 16, Always(Angles(np.ones(8))))

    read = layers(GEMMA, standardised(GEMMA), turn, Keys(GEMMA))
    assert {item.key: item.why for item in read.ignored} == {
        "rope_scaling.rope_type": "not read",
        "rope_scaling.beta_fast": "no ramp here",
    }
    full, sliding = read.readings
    assert (full.base, sliding.base) == (5e5, 100.0)
    assert {item.key for item in sliding.used} >= {"rope_local_base_freq"}
    assert "rope_scaling.factor" not in {item.key for item in sliding.used}


def test_a_reason_wins_over_none() -> None:
    config = {"rope_scaling": {"factor": 2.0}}
    without, with_one = Keys(config), Keys(config)
    with_one.part("rope_scaling").lose("factor", "passed over")
    assert ignored_by_all([without, with_one]) == (Ignored("rope_scaling.factor", 2.0, "passed over"),)


def test_what_overflows_at_a_length_ends_the_reading() -> None:
    def turn(layer: Layer) -> Turning:
        return Turning("dynamic", 1e4, 16, Growing(lambda length: Angles(np.ones(8) * 2.0**length), 1, "sequence", ""))

    with pytest.raises(StackStops, match="cannot be computed with"):
        layers(GEMMA, standardised(GEMMA), turn, Keys(GEMMA))


@pytest.mark.parametrize("error", [OverflowError, ZeroDivisionError, ValueError])
def test_errors_of_arithmetic_are_errors_of_the_stack(error: type[Exception]) -> None:
    with pytest.raises(StackStops, match="too far"), arithmetic():
        raise error("too far")


@pytest.mark.parametrize("value", [0, -4, 65537, 3.0, True, None, "64"])
def test_what_is_no_width(value: Any) -> None:
    with pytest.raises(StackStops, match="the width is"):
        width(Found(value, "head_dim"), "the width")
    assert width(Found(64, "head_dim"), "the width") == 64


def test_numbers_that_the_class_found_are_noted_with_their_key() -> None:
    file = Keys({"n_positions": 64})
    assert number(file, "longest length", Found(64, "n_positions")) == 64.0
    assert [(item.what, item.key) for item in file.used()] == [("longest length", "n_positions")]
    assert number(file, "longest length", Found(None, "default")) is None
    for value in (True, "64", 1e301, float("nan")):
        with pytest.raises(StackStops, match="no number"):
            number(file, "longest length", Found(value, "n_positions"))


def test_parts_by_their_dotted_path() -> None:
    file = Keys({"text_config": {"rope_theta": 5.0}})
    assert view_at(file, "").values is file.values
    assert view_at(file, "text_config.").number("base", "rope_theta") == 5.0
    assert file.used()[0].key == "text_config.rope_theta"


def test_a_gguf_file_has_no_config() -> None:
    with pytest.raises(NoSuchModel, match="Made reads a"):
        config_of(Given("made", metadata={}), "Made")


@pytest.mark.parametrize("length", [-1.0, float("nan"), float("inf"), 2.0**53])
def test_what_is_no_cap(length: float) -> None:
    with pytest.raises(StackStops, match="longest sequence"):
        whole_cap(Keys({}), length, "default")
    assert whole_cap(Keys({}), 2050.9, "default") == 2050
