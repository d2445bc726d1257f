"""Which layers turn: SmolLM3 and Llama 4 list them, llama.cpp (2.4h) and mlx-lm's Llama 4 (2.7) do not look."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gnomon.report.resolved.document import Resolution
from gnomon.resolving import resolve
from gnomon.resolving.readers.which_layers import by_flags, every, listed_flags
from gnomon.resolving.reading import STILL, TURNING, LayerReading
from gnomon.resolving.rules.angles import Always, Angles
from gnomon.resolving.rules.keys import Keys
from gnomon.resolving.stopping import StackStops
from tests.helpers.stack_readings import KNOWN

LISTED = [1, 0, 1, 1, 1, 1, 1, 0]
LAYER = LayerReading("all layers", 8, 8, 1e4, "default", "half", Always(Angles(np.ones(4))))
STANDING = replace(LAYER, rotary_dim=0)


def resolved(name: str, stacks: str, **edits: Any) -> Resolution:
    config = KNOWN[name]
    edits = {"num_hidden_layers": 8, "no_rope_layers": LISTED, **edits}
    inner = config.get("text_config")
    return resolve({**config, "text_config": {**inner, **edits}} if inner else {**config, **edits}, stacks=stacks)


@pytest.mark.parametrize(
    ("name", "stack"), [("smollm3-3b", "llama.cpp"), ("llama-4-scout", "llama.cpp"), ("llama-4-scout", "mlx-lm")]
)
def test_a_fixed_step_is_told_from_a_list(name: str, stack: str) -> None:
    column = resolved(name, stack).column(stack)
    assert column.verdict == "differs"
    assert "no_rope_layers" in column.sentences[0]
    assert "layer 3 does not turn here and layer 1 turns here alone" in column.sentences[0]
    assert {layer.kind: layer.layers for layer in column.layers} == {TURNING: (0, 1, 2, 4, 5, 6), STILL: (3, 7)}
    usual = resolved(name, stack, no_rope_layers=[1, 1, 1, 0] * 2).column(stack)
    assert usual.verdict == "equal"


def test_a_fixed_step_is_told_from_an_interval() -> None:
    column = resolved("smollm3-3b", "llama.cpp,mlx-lm", no_rope_layers=None, no_rope_layer_interval=2)
    assert column.column("mlx-lm").verdict == "equal"
    assert "layers 1 and 5 turn here alone" in column.column("llama.cpp").sentences[0]


def test_ollamas_llama_4_runs_in_llama_cpp() -> None:
    assert resolved("llama-4-scout", "ollama").column("ollama").verdict == "differs"


def test_the_document_says_which_layers_and_the_text_too() -> None:
    found = resolved("smollm3-3b", "vllm")
    assert [layer["layers"] for layer in found.to_dict()["columns"][0]["layers"]] == [[0, 2, 3, 4, 5, 6], [1, 7]]
    assert "does not turn: layers 1, 7" in str(found)


def test_flags_make_both_kinds_one_of_them_or_unnumbered_ones() -> None:
    def kinds(flags: list[int] | None) -> list[tuple[str, tuple[int, ...] | None]]:
        return [(layer.kind, layer.layers) for layer in by_flags(flags, LAYER, STANDING)]

    assert kinds([1, 0, 1]) == [(TURNING, (0, 2)), (STILL, (1,))]
    assert kinds([1, 1]) == [(TURNING, (0, 1))]
    assert kinds(None) == [(TURNING, None), (STILL, None)]
    assert every(3, 7) == [1, 1, 0, 1, 1, 0, 1]
    assert every(3, None) is every(0, 7) is every(3, True) is None


def test_a_list_is_as_long_as_there_are_layers() -> None:
    assert listed_flags(Keys({"no_rope_layers": [1, 0, 1, 0], "num_hidden_layers": 3})) == [1, 0, 1]
    assert listed_flags(Keys({"no_rope_layers": [1, 0]})) == [1, 0]
    assert listed_flags(Keys({"no_rope_layer_interval": 2, "num_hidden_layers": 3})) == [1, 0, 1]
    assert listed_flags(Keys({})) is None
    with pytest.raises(StackStops, match="no list"):
        listed_flags(Keys({"no_rope_layers": 3}))
