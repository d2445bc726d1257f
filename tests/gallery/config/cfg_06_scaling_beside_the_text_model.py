"""Editing the saved config has no effect: a language model with images reads `text_config`, not the top."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

LINEAR = {"type": "linear", "factor": 2.0}
WHOLE = {"model_type": "llava", "vision_config": {"model_type": "clip_vision_model", "hidden_size": 32}}


def faulty(folder: Path) -> Path:
    return config_file(folder, **{**WHOLE, "text_config": llama_config(), "rope_scaling": LINEAR})


def healthy(folder: Path) -> Path:
    return config_file(folder, **{**WHOLE, "text_config": llama_config(rope_scaling=LINEAR)})


ITEM = Fault(
    source="NVIDIA/TensorRT-LLM#1595, NVIDIA/TensorRT-LLM#4728",
    check="PE116",
    where="rope_scaling",
    right=r"text_config has none.*write text_config\.rope_scaling",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
