"""A base moves between programs under the first one's name: Megatron's `rotary_base` in a file read as Llama's.

One reader takes `rotary_base`, the next `rope_theta` and its default of 10,000.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

BASE = 5e5


def faulty(folder: Path) -> Path:
    return config_file(folder, **llama_config(rotary_base=BASE))


def healthy(folder: Path) -> Path:
    return config_file(folder, **llama_config(rope_theta=BASE))


ITEM = Fault(
    source="PaddlePaddle/PaddleFleet#2026, THUDM/slime#1720",
    check="PE117",
    where="rotary_base",
    right=r"nothing reads rotary_base; readers look for rope_theta.*rename rotary_base to rope_theta",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
