"""A model's shape, whatever its block says."""

import pytest

from gnomon.resolving.readers.transformers5.shape import shape
from gnomon.resolving.stopping import NoSuchModel
from tests.helpers.stack_readings import KNOWN


def test_no_block_can_stop_it() -> None:
    for block in ("?", [1], {"rope_type": "yarn", "factor": "x"}, {"rope_type": 5}):
        for key in ("rope_scaling", "rope_parameters"):
            assert shape({**KNOWN["llama-2-7b"], key: block}).blocks[0].rotary_dim.value == 128


def test_a_block_in_the_inner_config_is_left_out_too() -> None:
    gemma = shape(KNOWN["gemma-3-4b"])
    assert [block.rule for block in gemma.blocks] == ["default", "default"]
    assert gemma.part == "text_config."


def test_kinds_widths_and_scales_stay() -> None:
    assert [block.kind for block in shape(KNOWN["smollm3-3b"]).blocks] == [
        "layers with rotation",
        "layers without rotation",
    ]
    assert shape(KNOWN["deepseek-v3"]).blocks[0].head_dim.value == 192
    assert shape(KNOWN["gemma-2-27b"]).blocks[0].softmax == pytest.approx(0.942809, abs=1e-6)


def test_a_file_without_widths_has_none() -> None:
    with pytest.raises(NoSuchModel, match="how wide"):
        shape({"model_type": "llama"})
