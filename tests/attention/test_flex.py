"""FlexAttention, on CPU by the eager backend of torch's compiler, against the dense form."""

import pytest
import torch

from tests.helpers.scenes import BATCH, DIM, ENCODINGS, LENGTH, SCENES, layer_for, output, require_equal
from tests.helpers.weights import normal


@pytest.mark.usefixtures("unchecked")
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf:UserWarning")
@pytest.mark.parametrize(
    ("name", "scene"),
    [
        ("alibi", "chunks and left padding"),
        ("t5", "padding and packed, both sides"),
        ("rotary", "window and left padding"),
        ("window_bias", "both sides"),
    ],
)
def test_flex_attention_equals_the_dense_form(name: str, scene: str) -> None:
    layer, x = layer_for(ENCODINGS[name], SCENES[scene]), normal(BATCH, LENGTH, DIM)
    with torch.no_grad():
        want = output(layer, SCENES[scene], x, "dense")
        require_equal(output(layer, SCENES[scene], x, "flex"), want)
