"""A BERT with relative positions loads without an error in transformers 5 and runs without them.

The class no longer knows `position_embedding_type: relative_key`: it leaves the tables of distances in the file.
"""

from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import HEAD_DIM, LENGTH, edit_config, save_tiny

TABLE = "encoder.layer.{}.attention.self.distance_embedding.weight"


def faulty(folder: Path) -> Path:
    save_tiny(folder, "bert")
    edit_config(folder, position_embedding_type="relative_key")
    tables = {TABLE.format(layer): torch.randn(2 * LENGTH - 1, HEAD_DIM) for layer in range(2)}
    save_file({**load_file(folder / "model.safetensors"), **tables}, folder / "model.safetensors", {"format": "pt"})
    return folder


def healthy(folder: Path) -> Path:
    return save_tiny(folder, "bert")


ITEM = Fault(
    source="huggingface/transformers#41170",
    check="PE240",
    where="distance_embedding",
    right=r"2 tables of the claimed shaw encoding, and the class that loads them reads 0",
    build=faulty,
    healthy=healthy,
)
