"""One layer of an old file has frequencies of another base than the rest: a merge took it from another model."""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited


def build(folder: Path, last: float) -> Path:
    def add(tensors: dict[str, Tensor]) -> None:
        for layer, base in enumerate((1e4, last)):
            tensors[f"layers.{layer}.self_attn.rotary_emb.inv_freq"] = base ** (-torch.arange(0, 8, 2) / 8)

    return edited(folder, "llama", add)


def faulty(folder: Path) -> Path:
    return build(folder, 1e6)


def healthy(folder: Path) -> Path:
    return build(folder, 1e4)


ITEM = Fault(
    source="huggingface/transformers#35255",
    check="PE223",
    where="layers.1.self_attn.rotary_emb.inv_freq",
    right=r"differs from layers\.0.*build both from the config",
    build=faulty,
    healthy=healthy,
)
