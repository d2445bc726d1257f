"""A converter of Llama 4 writes a number as `no_rope_layers`, and other tools cannot read it: it is a list or null."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

LLAMA4 = {**llama_config(num_hidden_layers=4, rope_theta=5e5), "model_type": "llama4_text"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **LLAMA4, no_rope_layers=4)


def healthy(folder: Path) -> Path:
    return config_file(folder, **LLAMA4, no_rope_layer_interval=4)


ITEM = Fault(
    source="huggingface/transformers#37359",
    check="PE105",
    where="config.json",
    right=r"no_rope_layers is 4; it must be a list.*no_rope_layer_interval",
    build=faulty,
    healthy=healthy,
)
