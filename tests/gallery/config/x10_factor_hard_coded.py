"""Llama 3.2 with 1B and 3B gets worse near 80,000 tokens: the reference code has factor 8 in it, these have 32."""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

BLOCK: dict[str, Any] = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 32.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SIZES: dict[str, Any] = {"max_position_embeddings": 2048, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={**BLOCK, "factor": 8.0})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(BLOCK))


ITEM = Fault(
    source="meta-llama/llama-models#241",
    check="PE307",
    where="layers",
    right=r"'factor': 32\.0.*by up to 3 ",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=BLOCK)},
)
