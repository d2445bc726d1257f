"""Bloom, MPT and Falcon of transformers with the ALiBi that gnomon reads from their configs."""

import math
from typing import Any
from unittest import mock

import pytest
import torch
from torch import Tensor

from gnomon.encodings import ALiBi, from_hf_config
from tests.helpers.padded import MASK, PLACES, REAL, assert_ours, drawn, hidden

HEADS = pytest.mark.parametrize("heads", [4, 6])


def alibi(config: Any, **changes: float) -> ALiBi:
    encoding = from_hf_config(config)
    assert isinstance(encoding, ALiBi)
    return ALiBi(**encoding.options | changes)


@HEADS
def test_bloom(heads: int) -> None:
    from transformers import BloomModel

    model = drawn({"model_type": "bloom", "n_head": heads, "hidden_size": 8 * heads})

    def by_gnomon(encoding: ALiBi) -> Tensor:
        bias = encoding.bias(PLACES, PLACES).flatten(0, 1)
        with mock.patch.object(BloomModel, "build_alibi_tensor", return_value=bias):
            return hidden(model)

    assert_ours(hidden(model), by_gnomon(alibi(model.config)), by_gnomon(alibi(model.config, alibi_bias_max=6)))


@HEADS
def test_mpt(heads: int) -> None:
    from transformers import MptModel

    model = drawn({"model_type": "mpt", "n_heads": heads, "d_model": 8 * heads})
    assert model.config.attn_config.alibi
    places = torch.arange(model.config.max_seq_len)[None] + 5

    def by_gnomon(encoding: ALiBi) -> Tensor:
        bias = encoding.bias(places, places)[0]
        with mock.patch.object(MptModel, "build_mpt_alibi_tensor", return_value=bias):
            return hidden(model)

    assert_ours(hidden(model), by_gnomon(alibi(model.config)), by_gnomon(alibi(model.config, alibi_bias_max=6)))


def test_the_largest_exponent_of_mpt_is_read_by_gnomon_and_not_by_transformers() -> None:
    """MptModel of 5.24 does not hand attn_config.alibi_bias_max to the function that uses it: 8, whatever is stated."""
    models = [drawn({"model_type": "mpt", "attn_config": {"alibi": True, "alibi_bias_max": n}}) for n in (8, 16)]
    assert torch.equal(hidden(models[0]), hidden(models[1]))
    assert [alibi(model.config).slopes[-1] for model in models] == [2.0**-8, 2.0**-16]


def falcon(heads: int, implementation: str) -> Any:
    sizes = {"num_attention_heads": heads, "hidden_size": 8 * heads, "multi_query": False}
    return drawn({"model_type": "falcon", "alibi": True, "attn_implementation": implementation, **sizes})


@HEADS
def test_falcon_with_sdpa(heads: int) -> None:
    """Its bias is divided by sqrt(head_dim) with the logits: `logit_scale`. Here the model divides what it is given."""
    from transformers.models.falcon import modeling_falcon

    model = falcon(heads, "sdpa")

    def by_gnomon(encoding: ALiBi) -> Tensor:
        bias = (encoding.bias(PLACES, PLACES) * math.sqrt(8)).flatten(0, 1)
        with mock.patch.object(modeling_falcon, "build_alibi_tensor", return_value=bias):
            return hidden(model)

    ours = alibi(model.config)
    assert ours.logit_scale == 8**-0.5
    assert_ours(hidden(model), by_gnomon(ours), by_gnomon(alibi(model.config, logit_scale=1.0)))


@HEADS
def test_eager_falcon_adds_its_bias_twice(heads: int) -> None:
    """In 5.24 the mask of the eager path holds the bias already: it equals sdpa with slopes twice as steep. The formula
    is that of sdpa, which the test above compares with."""
    from transformers.models.falcon import modeling_falcon

    eager, sdpa = falcon(heads, "eager"), falcon(heads, "sdpa")
    twice = alibi(sdpa.config, logit_scale=2 * 8**-0.5)
    bias = (twice.bias(PLACES, PLACES) * math.sqrt(8)).flatten(0, 1)
    once, expected = hidden(sdpa), hidden(eager)
    with mock.patch.object(modeling_falcon, "build_alibi_tensor", return_value=bias):
        assert_ours(expected, hidden(sdpa), once)


def test_the_batch_is_padded_and_its_rows_start_elsewhere() -> None:
    assert not REAL.all()
    assert MASK[0, 0] == 0
    assert PLACES[0, -1] != PLACES[1, -1]
