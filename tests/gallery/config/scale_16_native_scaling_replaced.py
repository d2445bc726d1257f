"""Perplexity goes from 10 to 11,316 when the window is widened: linear scaling replaces the native llama3.

The base goes with it, for it stood in the block.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import LLAMA3, config_file, llama_config

NATIVE = {**LLAMA3, "rope_theta": 5e5}


def faulty(folder: Path) -> Path:
    return config_file(
        folder, **llama_config(max_position_embeddings=262_144, rope_scaling={"rope_type": "linear", "factor": 2.0})
    )


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(max_position_embeddings=262_144, rope_parameters=NATIVE))


ITEM = Fault(
    source="unslothai/unsloth#7028",
    check="PE109",
    where="rope_scaling",
    right=r"llama3 scaling by 8 was replaced by linear scaling by 2.*keep the kind llama3 with base 500000",
    build=faulty,
    healthy=healthy,
    evidence={"reference": llama_config(max_position_embeddings=131_072, rope_parameters=NATIVE)},
)
