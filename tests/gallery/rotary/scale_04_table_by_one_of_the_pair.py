"""Perplexity grows with the place: tables are multiplied by one mscale in place of the ratio of two.

Factor 40 and both mscales 0.707: tables 1.0, where the faulty code has 1.2608, and the softmax 1.58963 times its
scale.
"""

from pathlib import Path
from typing import Any

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model

ROPE = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 40.0, "original_max_position_embeddings": 64}
ROPE |= {"mscale": 0.707, "mscale_all_dim": 0.707}


def faulty(folder: Path) -> Any:
    model: Any = healthy(folder)
    model.rotary_emb.attention_scaling = 1.2608
    return model


def healthy(folder: Path) -> nn.Module:
    return tiny_model("deepseek_v3", max_position_embeddings=2560, rope_parameters=ROPE)


ITEM = Fault(
    source="kekzl/imp#880",
    check="PE314",
    where="layers.*.self_attn",
    right=r"rule gives 1.5896",
    build=faulty,
    healthy=healthy,
)
