"""The same from the file's side: a GLM config without its factor of 0.5 leaves the width to whoever reads it."""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

GLM = {**llama_config(head_dim=16, rope_theta=10_000.0), "model_type": "glm"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **GLM)


def healthy(folder: Path) -> Path:
    return config_file(folder, **GLM, partial_rotary_factor=0.5)


ITEM = Fault(
    source="ml-explore/mlx-lm#1698",
    check="PE107",
    where="config.json",
    right=r"glm rotates 0\.5 of a head.*partial_rotary_factor: 0\.5",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
