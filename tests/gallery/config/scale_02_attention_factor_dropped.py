"""Scores are off by a constant: an explicit attention_factor of 1.0 is not in the list of keys that the server copies.

Left to itself YaRN at factor 64 multiplies by 0.1 ln 64 + 1 = 1.4158883, and every score by its square.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

BLOCK: dict[str, Any] = {
    "rope_type": "yarn",
    "rope_theta": 1e4,
    "factor": 64.0,
    "original_max_position_embeddings": 4096,
    "attention_factor": 1.0,
}
SIZES: dict[str, Any] = {"max_position_embeddings": 262144, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={**BLOCK, "attention_factor": None})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(BLOCK))


ITEM = Fault(
    source="vllm-project/vllm#48351, vllm-project/vllm#46280, ml-explore/mlx-lm#1507",
    check="PE307",
    where="layers",
    right=r"multiplies lengths by 1\.4159.*remove the factor",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=BLOCK)},
)
