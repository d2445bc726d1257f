"""Llama 3.1 is good to 29,000 tokens, then repeats itself: the replaced rotary class never reads the llama3 block.

A kernel that takes a base alone does the same when its caller drops the keys it cannot pass on.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

BLOCK: dict[str, Any] = {
    "rope_type": "llama3",
    "rope_theta": 5e5,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
SIZES: dict[str, Any] = {"max_position_embeddings": 512, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={"rope_type": "default", "rope_theta": 5e5})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(BLOCK))


ITEM = Fault(
    source="unslothai/unsloth#6197, unslothai/unsloth#2405, deepspeedai/DeepSpeed#8341",
    check="PE307",
    where="layers",
    right=r"the config says 500000\.0 \(llama3\)",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=BLOCK)},
)
