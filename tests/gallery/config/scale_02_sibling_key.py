"""The sibling of the key that was dropped: `attn_factor` multiplies in llama.cpp, and transformers does not read it.

`attention_factor` replaces what YaRN works out, `attn_factor` multiplies it: 0.5 times 1.4158883 here.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

YARN = {"rope_type": "yarn", "factor": 64.0, "original_max_position_embeddings": 4096}


def faulty(folder: Path) -> Path:
    block = {**YARN, "attn_factor": 0.5}
    return config_file(folder, **llama_config(max_position_embeddings=262_144, rope_scaling=block))


def healthy(folder: Path) -> Path:
    block = {**YARN, "attention_factor": 0.7079441541679836}
    return config_file(folder, **llama_config(max_position_embeddings=262_144, rope_scaling=block))


ITEM = Fault(
    source="vllm-project/vllm#48351, ml-explore/mlx-lm#1507",
    check="PE106",
    where="rope_scaling",
    right=r"attn_factor is 0\.5.*write attention_factor: 0\.707944",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
