"""Three layers of four have no rotation instead of one: `no_rope_layers` holds 1 where a layer rotates.

A file whose author read the name literally inverts the model. Who is right cannot be told from the file: it is counted.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

SMOLLM3 = {**llama_config(num_hidden_layers=4, rope_theta=2e6), "model_type": "smollm3"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **SMOLLM3, no_rope_layers=[0, 0, 0, 1])


def healthy(folder: Path) -> Path:
    return config_file(folder, **SMOLLM3, no_rope_layers=[1, 1, 1, 0])


ITEM = Fault(
    source="huggingface/transformers#43756, huggingface/smollm#130",
    check="PE111",
    where="config.json",
    right=r"3 of 4 layers without rotation.*\[1, 1, 1, 0\]",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
