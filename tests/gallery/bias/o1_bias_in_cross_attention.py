"""A T5 decoder cares for the order in which the encoder's states stand: its cross-attention was given a position bias.

The bias of the decoder's self-attention is added between decoder and encoder as well; the original has none there,
and weights converted from it do not fit.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model


def faulty(folder: Path) -> Any:
    model: Any = healthy(folder)
    for block in model.decoder.block:
        between = block.layer[1].EncDecAttention
        between.has_relative_attention_bias = True
        between.relative_attention_bias = nn.Embedding(between.relative_attention_num_buckets, between.n_heads)
        torch.nn.init.normal_(between.relative_attention_bias.weight)
    return model


def healthy(folder: Path) -> nn.Module:
    return tiny_model("t5")


ITEM = Fault(
    source="huggingface/transformers#8518, guillaume-be/rust-bert#171, "
    "google-research/text-to-text-transfer-transformer#415",
    check="PE317",
    where="EncDecAttention",
    right=r"to another sequence adds a bias.*self-attention only",
    build=faulty,
    healthy=healthy,
)
