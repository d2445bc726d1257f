"""T5, UMT5 and MPNet of transformers with the bucketed bias that gnomon reads from their configs."""

from typing import Any, Literal
from unittest import mock

import pytest
import torch
from torch import Tensor, nn

from gnomon.encodings import T5Bias, from_hf_config
from tests.helpers.padded import IDS, MASK, TOKENS, assert_ours, drawn, hidden
from tests.helpers.weights import redraw

BUCKETS = {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 7}
#: a relative bias may start anywhere
PLACES = torch.arange(TOKENS)[None] + 40


def bucketed(config: Any, stack: Literal["encoder", "decoder"] | None = None) -> T5Bias:
    encoding = from_hf_config(config, layer=1, stack=stack, part="attention")
    assert isinstance(encoding, T5Bias)
    return encoding


def bias(encoding: T5Bias, table: nn.Embedding, stretch: int) -> Tensor:
    encoding.load_state_dict(table.state_dict())
    return encoding.bias(PLACES * stretch, PLACES * stretch)


def strong(model: nn.Module) -> None:
    """The bias has to show."""
    for name, module in model.named_modules():
        if name.endswith("relative_attention_bias"):
            redraw(module, std=2.0)


@pytest.mark.parametrize("model_type", ["t5", "mt5", "umt5", "switch_transformers"])
def test_t5_and_its_kin(model_type: str) -> None:
    """T5 has one table a stack, UMT5 one a layer; the encoder looks both ways, the decoder back only."""
    model = drawn({"model_type": model_type, **BUCKETS})
    strong(model)
    stacks = {False: bucketed(model.config, "encoder"), True: bucketed(model.config, "decoder")}
    assert (stacks[False].direction, stacks[True].direction) == ("both", "causal")
    attention = type(next(m for m in model.modules() if hasattr(m, "compute_bias")))
    given = {"decoder_input_ids": IDS.flip(1), "decoder_attention_mask": MASK}

    def by_gnomon(stretch: int) -> Tensor:
        def ours(layer: Any, *_: Any, **__: Any) -> Tensor:
            return bias(stacks[layer.is_decoder], layer.relative_attention_bias, stretch)

        with mock.patch.object(attention, "compute_bias", ours):
            return hidden(model, **given)

    assert_ours(hidden(model, **given), by_gnomon(1), by_gnomon(3))


def test_mpnet() -> None:
    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

    model = drawn({"model_type": "mpnet"})
    strong(model)

    def by_gnomon(stretch: int) -> Tensor:
        def ours(encoder: Any, x: Tensor, *_: Any, **__: Any) -> Tensor:
            return bias(bucketed(model.config), encoder.relative_attention_bias, stretch).expand(len(x), -1, -1, -1)

        with mock.patch.object(MPNetEncoder, "compute_position_bias", ours):
            return hidden(model)

    assert_ours(hidden(model), by_gnomon(1), by_gnomon(3))
