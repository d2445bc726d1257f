"""A server refuses MiniMax-M2, or rotates the whole head: the file counts lanes, the reader wants a share.

With both in one file they must agree: 8 of 16 lanes are a share of 0.5.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_configs import config_file, llama_config

MINIMAX = {**llama_config(head_dim=16, rotary_dim=8, rope_theta=5e6), "model_type": "minimax_m2"}


def faulty(folder: Path) -> Path:
    return config_file(folder, **MINIMAX, partial_rotary_factor=1.0)


def healthy(folder: Path) -> Path:
    return config_file(folder, **MINIMAX, partial_rotary_factor=0.5)


ITEM = Fault(
    source="vllm-project/vllm-ascend#7252, vllm-project/vllm-ascend#6581",
    check="PE101",
    where="config.json",
    right=r"rotary_dim says 8 but partial_rotary_factor says 16",
    build=faulty,
    healthy=healthy,
)
