"""Mistral 3 scores with a factor too much: its pair of mscale numbers, 1 and 1, cancels, and the graph scales anyway.

In one of two places: keys that a shifted cache rotates again were scaled otherwise.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

BLOCK: dict[str, Any] = {
    "rope_type": "yarn",
    "rope_theta": 1e6,
    "factor": 16.0,
    "original_max_position_embeddings": 16384,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
}
SIZES: dict[str, Any] = {"max_position_embeddings": 262144, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={**BLOCK, "mscale": None})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(BLOCK))


ITEM = Fault(
    source="ggml-org/llama.cpp#17945",
    check="PE307",
    where="layers",
    right=r"multiplies lengths by 1\.2773",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=BLOCK)},
)
