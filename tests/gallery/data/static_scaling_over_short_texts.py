"""A model extended to long texts got a little worse on the short ones that it mostly sees.

Cause: static YaRN acts at every length, and every input fits the length before scaling.
"""

import json
from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.healthy import SIZES

SCALING = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 1024}
CONFIG = {**SIZES, "model_type": "llama", "max_position_embeddings": 4096, "rope_parameters": SCALING}


def build(folder: Path) -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(CONFIG))
    return file


ITEM = Fault(
    source="page: huggingface.co/Qwen/Qwen2.5-7B-Instruct, processing long texts",
    check="PE702",
    where="attention",
    right="at most 1024 tokens.*take the scaling out",
    build=build,
    healthy=build,
    evidence={"lengths": [100, 900, 1024]},
    healthy_evidence={"lengths": [100, 900, 3000]},
    severity="note",
)
