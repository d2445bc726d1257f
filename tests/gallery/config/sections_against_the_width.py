"""A test of M-RoPE runs for months with sections that do not add up: 12 lanes are 6 pairs, and they summed to 5.

Code that slices by the sections leaves the last pair without a coordinate, or stops with an unclear error.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

QWEN2_VL = {**llama_config(head_dim=12, rope_theta=1e6), "model_type": "qwen2_vl_text"}
BLOCK = {"rope_type": "default", "rope_theta": 1e6}


def faulty(folder: Path) -> Path:
    return config_file(folder, **QWEN2_VL, rope_parameters={**BLOCK, "mrope_section": [2, 2, 1]})


def healthy(folder: Path) -> Path:
    return config_file(folder, **QWEN2_VL, rope_parameters={**BLOCK, "mrope_section": [2, 2, 2]})


ITEM = Fault(
    source="pytorch/torchtitan#4286",
    check="PE114",
    where="mrope_section",
    right=r"mrope_section sums to 5, and a head has 6 rotated pairs",
    build=faulty,
    healthy=healthy,
)
