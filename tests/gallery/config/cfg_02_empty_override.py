"""Training starts at a higher loss on a model that was scaled: an empty `rope_scaling` wipes the model's own."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

LINEAR = {"type": "linear", "factor": 4.0}


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_scaling=None))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_scaling=LINEAR))


ITEM = Fault(
    source="axolotl-ai-cloud/axolotl#383",
    check="PE109",
    where="rope_scaling",
    right=r"linear scaling by 4 was the original's scaling, and this config has none.*keep the original's block",
    build=faulty,
    healthy=healthy,
    evidence={"reference": llama_config(rope_scaling=LINEAR)},
)
