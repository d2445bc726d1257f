"""Index errors on an extended context: the engine lets factor times the length in, the table is not longer.

Trained length 16, factor 4: position 63 is allowed, and the table has 16 rows.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import TurningDecoder, cached, llama_config

CONFIG = llama_config(
    max_position_embeddings=64,
    rope_scaling={"type": "linear", "factor": 4.0, "original_max_position_embeddings": 16},
)


def faulty(folder: Path) -> TurningDecoder:
    return cached(rows=16, factor=4.0)


def healthy(folder: Path) -> TurningDecoder:
    return cached(rows=128, factor=4.0)


ITEM = Fault(
    source="vllm-project/vllm#55910",
    check="PE323",
    where="",
    right=r"16.*64",
    build=faulty,
    healthy=healthy,
    evidence={"config": CONFIG},
)
