"""Logits are off at every place but the first: the softmax scale of latent attention lacks the square of mscale.

Factor 40 and both mscales 1: tables keep their size, the softmax gets 1.87385 times its scale.
"""

from pathlib import Path
from typing import Any

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import tiny_model

ROPE = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 40.0, "original_max_position_embeddings": 64}
ROPE |= {"mscale": 1.0, "mscale_all_dim": 1.0}


def faulty(folder: Path) -> Any:
    model: Any = healthy(folder)
    for layer in model.layers:
        layer.self_attn.scaling = layer.self_attn.qk_head_dim**-0.5
    return model


def healthy(folder: Path) -> nn.Module:
    return tiny_model("deepseek_v3", max_position_embeddings=2560, rope_parameters=ROPE)


ITEM = Fault(
    source="huggingface/transformers#47435",
    check="PE314",
    where="layers.*.self_attn",
    right=r"rule gives 1.8738",
    build=faulty,
    healthy=healthy,
)
