"""A patch against loops in long context scales the softmax by YaRN's factor squared; the tables carry it already.

With factor 8 logits get 1.4591 by the tables. With the patch they get 2.129.
"""

from pathlib import Path
from typing import Any

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama

ROPE = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 8.0, "original_max_position_embeddings": 64}


def faulty(folder: Path) -> Any:
    model: Any = healthy(folder)
    for layer in model.model.layers:
        layer.self_attn.scaling *= 1.4591
    return model


def healthy(folder: Path) -> nn.Module:
    model: nn.Module = llama(max_position_embeddings=512, rope_parameters=ROPE)
    return model


ITEM = Fault(
    source="page:guoqingbao/xinfer#329",
    check="PE314",
    where="model.layers.*.self_attn",
    right=r"2.12[89].*rule gives 1.459",
    build=faulty,
    healthy=healthy,
)
