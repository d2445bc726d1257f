"""The YaRN factor that the user set has no effect: the ratio of the lengths took its place.

Factor 4 with 32768 original positions and 40960 stated ones ran as factor 1.25: attention factor 1.02231.
"""

from pathlib import Path
from typing import Any

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import llama_config
from tests.helpers.toys import llama

YARN = {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768}
SIZES = {"max_position_embeddings": 40960, "num_attention_heads": 2}


def faulty(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters={**YARN, "factor": 40960 / 32768})


def healthy(folder: Path) -> Any:
    return llama(**SIZES, rope_parameters=dict(YARN))


ITEM = Fault(
    source="huggingface/transformers#38224",
    check="PE307",
    where="layers",
    right=r"1\.022\d.*1\.1386",
    build=faulty,
    healthy=healthy,
    evidence={"config": llama_config(**SIZES, rope_parameters=YARN)},
)
