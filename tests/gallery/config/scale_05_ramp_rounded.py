"""gpt-oss has a high error of log-probabilities in reinforcement learning: YaRN's ramp is rounded to whole pairs.

Its config says `truncate: false`: from 8.0928 to 17.3980, not from 8 to 18. Pair 17 is off by 76 %.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

BLOCK: dict[str, Any] = {
    "rope_type": "yarn",
    "rope_theta": 150_000.0,
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
}
SIZES: dict[str, Any] = {"max_position_embeddings": 131072, "hidden_size": 128, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={**BLOCK, "truncate": True})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(BLOCK))


ITEM = Fault(
    source="vllm-project/vllm#27722, vllm-project/vllm#28244, sgl-project/sglang#14270",
    check="PE307",
    where="layers",
    right=r"'truncate': False.*by up to 0\.76",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=BLOCK)},
)
