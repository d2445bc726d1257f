"""An uploaded long-context model prints blanks: the linear factor of 4 that it was tuned with is not in its config.

16,384 positions at base 10,000 without scaling are more than any published weights were trained for.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(max_position_embeddings=16_384))


def healthy(folder: Path) -> Path:
    return config_file(
        folder, **llama_config(max_position_embeddings=16_384, rope_scaling={"type": "linear", "factor": 4.0})
    )


ITEM = Fault(
    source="JIA-Lab-research/LongLoRA#181",
    check="PE110",
    where="config.json",
    right=r"16384 positions are stated with base 10000 and no scaling.*rope_scaling",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
