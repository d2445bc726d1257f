"""Outputs are NaN after a load through the meta device: the frequencies hold what the memory held."""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited

NAME = "layers.0.self_attn.rotary_emb.inv_freq"


def build(folder: Path, values: Tensor) -> Path:
    def add(tensors: dict[str, Tensor]) -> None:
        tensors[NAME] = values

    return edited(folder, "llama", add)


def faulty(folder: Path) -> Path:
    return build(folder, torch.tensor([1.0, float("nan"), 0.0, float("inf")]))


def healthy(folder: Path) -> Path:
    return build(folder, 10_000.0 ** (-torch.arange(0, 8, 2) / 8))


ITEM = Fault(
    source="huggingface/transformers#45902",
    check="PE202",
    where=NAME,
    right=r"2 of 4 numbers are NaN or infinite.*rebuild the table after loading",
    build=faulty,
    healthy=healthy,
)
