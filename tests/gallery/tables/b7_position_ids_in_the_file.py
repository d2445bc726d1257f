"""Position ids that a file keeps, or lacks, are harmless when they only count: nothing needs them from a file."""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import LookAlike
from tests.helpers.gallery_tables import edited


def build(folder: Path) -> Path:
    def add(tensors: dict[str, Tensor]) -> None:
        tensors["embeddings.position_ids"] = torch.arange(37)[None]

    return edited(folder, "bert", add)


ITEM = LookAlike(source="huggingface/transformers#6882", build=build, passes=("PE214", "PE204", "PE206"))
