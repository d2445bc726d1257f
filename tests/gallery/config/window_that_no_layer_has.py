"""A small Qwen 3 states a window and serves full attention in every layer: two defaults, neither of which warns.

The window is null unless `use_sliding_window` is true, and then only layers from 28 on slide. Draft models have 4.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

QWEN3 = {**llama_config(num_hidden_layers=4, rope_theta=1e6, sliding_window=2048), "model_type": "qwen3"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **QWEN3)


def healthy(folder: Path) -> Path:
    return config_file(folder, **QWEN3, use_sliding_window=True, max_window_layers=0)


ITEM = Fault(
    source="Blackwellboy/model-serving-minefield#107",
    check="PE113",
    where="sliding_window",
    right=r"use_sliding_window is not given, which is false: the window is read as null.*max_window_layers",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
