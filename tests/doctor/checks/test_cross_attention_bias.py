"""PE317: no position bias between two sequences."""

from typing import Any

import pytest
import torch
from torch import nn

from tests.helpers.tiny_transformers import tiny_model
from tests.helpers.toys import Toy, examine, only_finding


def test_a_bias_between_decoder_and_encoder_is_found() -> None:
    model: Any = tiny_model("t5")
    for block in model.decoder.block:
        between = block.layer[1].EncDecAttention
        between.has_relative_attention_bias = True
        between.relative_attention_bias = nn.Embedding(between.relative_attention_num_buckets, between.n_heads)
        torch.nn.init.normal_(between.relative_attention_bias.weight)
    finding = only_finding(examine("PE317", model))
    assert finding.where == "decoder.block.*.layer.*.EncDecAttention"
    assert "self-attention only" in finding.fix


@pytest.mark.parametrize("family", ["t5", "umt5", "bart", "whisper"])
def test_families_pass(family: str) -> None:
    result = examine("PE317", tiny_model(family))
    assert result.status == "passed", (result.detail, result.findings)
    assert all(float(measured.value) < 1e-3 for measured in result.measured)


def test_one_stack_is_not_judged() -> None:
    assert examine("PE317", Toy()).detail == "no attention to another sequence was seen whose bias can be read"
