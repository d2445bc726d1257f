"""An old Llama file keeps the frequencies of every layer, and they are those of another base than the config's.

They are recomputed from the config on loading, so the file only warns of unexpected keys; but one of the two is wrong.
"""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited


def build(folder: Path, base: float) -> Path:
    def add(tensors: dict[str, Tensor]) -> None:
        for layer in range(2):
            tensors[f"layers.{layer}.self_attn.rotary_emb.inv_freq"] = base ** (-torch.arange(0, 8, 2) / 8)

    return edited(folder, "llama", add, rope_parameters={"rope_type": "default", "rope_theta": 1e6})


def faulty(folder: Path) -> Path:
    return build(folder, 1e4)


def healthy(folder: Path) -> Path:
    return build(folder, 1e6)


ITEM = Fault(
    source="huggingface/transformers#35255",
    check="PE203",
    where="layers.0.self_attn.rotary_emb.inv_freq",
    right=r"follow base 10000.*from the config",
    build=faulty,
    healthy=healthy,
)
