"""Fluent text that loses the thread past a window: layers that see everything turn with the base of windowed ones.

Cause: a conversion of Gemma 3 wrote 1,000,000 as the local base and 10,000 as the other.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

GEMMA3 = {
    **llama_config(num_hidden_layers=6, sliding_window=512, sliding_window_pattern=6),
    "model_type": "gemma3_text",
}


def faulty(folder: Path) -> Path:
    return config_file(folder, **GEMMA3, rope_theta=1e4, rope_local_base_freq=1e6)


def healthy(folder: Path) -> Path:
    return config_file(folder, **GEMMA3, rope_theta=1e6, rope_local_base_freq=1e4)


ITEM = Fault(
    source="huggingface/transformers#41922",
    check="PE112",
    where="rope_local_base_freq",
    right="the two seem exchanged.*base 10000 for windowed layers, 1e[+]06 for full ones",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
