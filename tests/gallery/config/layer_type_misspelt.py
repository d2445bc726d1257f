"""A model whose layers should slide sees everything, or does not load: one letter of a kind of layer is missing."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

FULL, SLIDING = "full_attention", "sliding_attention"


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(layer_types=["sliding_atention", FULL], sliding_window=512))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(layer_types=[SLIDING, FULL], sliding_window=512))


ITEM = Fault(
    source="page: transformers 5.24, configuration_utils (the kinds of layers that are allowed)",
    check="PE111",
    where="config.json",
    right="holds 'sliding_atention', which readers do not know.*write sliding_attention",
    build=faulty,
    healthy=healthy,
)
