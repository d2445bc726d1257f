"""A checkpoint saved again by transformers 5 is wrong on older programs: the base is in `rope_parameters` alone."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

BLOCK = {"rope_type": "default", "rope_theta": 5e5}


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_parameters=BLOCK))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_parameters=BLOCK, rope_theta=5e5))


ITEM = Fault(
    source="marin-community/marin#7156",
    check="PE108",
    where="config.json",
    right=r"500000 is stated in rope_parameters alone.*write rope_theta: 500000 as well",
    build=faulty,
    healthy=healthy,
    evidence={"reference": llama_config(rope_theta=5e5)},
    severity="warning",
)
