"""Output repeats itself: YaRN's factor is put on the tables although mscale and mscale_all_dim cancel.

With factor 16 and both at 1 the tables keep their size; code that looks at the factor alone multiplies them by
1.2772589. The same factor is needed where keys are rotated anew in a cache.
"""

from pathlib import Path
from typing import Any

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama

ROPE = {
    "rope_type": "yarn",
    "rope_theta": 1e4,
    "factor": 16.0,
    "original_max_position_embeddings": 32,
    "mscale": 1.0,
} | {"mscale_all_dim": 1.0}


def faulty(folder: Path) -> Any:
    model: Any = healthy(folder)
    model.model.rotary_emb.attention_scaling = 1.2772589
    return model


def healthy(folder: Path) -> nn.Module:
    model: nn.Module = llama(max_position_embeddings=512, rope_parameters=ROPE)
    return model


ITEM = Fault(
    source="vllm-project/vllm#48621, sgl-project/sglang#22711, ggml-org/llama.cpp#17945",
    check="PE307",
    where="model.layers.*.self_attn",
    right=r"multiplies lengths by 1.2773.*no such factor|1.2773.*has 1.0000|remove the factor",
    build=faulty,
    healthy=healthy,
)
