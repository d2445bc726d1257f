"""Falcon with ALiBi is given a scaling of rotary positions: it has none, and the block is read by nobody.

The family's validation refused the pair when scaling was added; a config that is only read says nothing.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

FALCON = {**llama_config(alibi=True), "model_type": "falcon"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **FALCON, rope_scaling={"type": "linear", "factor": 2.0})


def healthy(folder: Path) -> Path:
    return config_file(folder, **FALCON)


ITEM = Fault(
    source="huggingface/transformers#25878",
    check="PE115",
    where="rope_scaling",
    right=r"linear scaling is given and alibi turns ALiBi on: nothing reads the scaling",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
