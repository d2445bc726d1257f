"""A Llama 3 checkpoint that went through a conversion and back is worse: the script's list of keys lacks the base."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config())


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_theta=5e5))


ITEM = Fault(
    source="huggingface/nanotron#188",
    check="PE108",
    where="config.json",
    right=r"was 500000 \(rope_theta\) and is 10000 .*rope_theta: 500000",
    build=faulty,
    healthy=healthy,
    evidence={"reference": llama_config(rope_theta=5e5)},
)
