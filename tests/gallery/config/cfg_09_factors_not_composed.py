"""A second extension of an extended model is wrong: its factor is counted from where the first one had got to.

From 4k to 8k by linear 2, and on to 32k: factor 8 of the original 4k, not 4.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

FIRST = llama_config(max_position_embeddings=8192, rope_scaling={"type": "linear", "factor": 2.0})


def faulty(folder: Path) -> Path:
    return config_file(
        folder, **llama_config(max_position_embeddings=32_768, rope_scaling={"type": "linear", "factor": 4.0})
    )


def healthy(folder: Path) -> Path:
    return config_file(
        folder, **llama_config(max_position_embeddings=32_768, rope_scaling={"type": "linear", "factor": 8.0})
    )


ITEM = Fault(
    source="JIA-Lab-research/LongLoRA#113",
    check="PE109",
    where="rope_scaling",
    right=r"factor is 4, on top of the original's 2 it has to be 8 .*original length of 4096",
    build=faulty,
    healthy=healthy,
    evidence={"reference": FIRST},
)
