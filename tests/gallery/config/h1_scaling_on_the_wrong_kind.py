"""Gemma 3 from 4B on got worse at length when configs got blocks by kind of layer: the wrong one was scaled.

The old file has one `rope_scaling` and means the full layers: base 1e6, linear 8; windowed ones 1e4 and no scaling.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, gemma3_config

FULL = {"rope_type": "default", "rope_theta": 1e6}
SLIDING = {"rope_type": "default", "rope_theta": 1e4}
SCALED = {"rope_type": "linear", "factor": 8.0}


def converted(**blocks: object) -> dict[str, object]:
    fields = {
        k: v for k, v in gemma3_config().items() if k not in ("rope_scaling", "rope_theta", "rope_local_base_freq")
    }
    return {**fields, "rope_parameters": blocks}


def faulty(folder: Path) -> Path:
    return config_file(folder, **converted(full_attention=FULL, sliding_attention={**SLIDING, **SCALED}))


def healthy(folder: Path) -> Path:
    return config_file(folder, **converted(full_attention={**FULL, **SCALED}, sliding_attention=SLIDING))


ITEM = Fault(
    source="huggingface/transformers#41934",
    check="PE112",
    where="rope_parameters.sliding_attention",
    right=r"factor 8.*full layers have none.*full_attention: windowed layers keep base 10000 .*scale 1\.0",
    build=faulty,
    healthy=healthy,
)
