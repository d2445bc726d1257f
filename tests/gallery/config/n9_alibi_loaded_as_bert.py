"""A DNA model with ALiBi fails above 512 tokens: it is loaded as plain BERT, whose table it does not have."""

import json
from pathlib import Path

from safetensors.torch import load_file, save_file

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import save_tiny

TABLE = "embeddings.position_embeddings.weight"


def faulty(folder: Path) -> Path:
    save_tiny(folder, "bert")
    weights = {name: tensor for name, tensor in load_file(folder / "model.safetensors").items() if name != TABLE}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "alibi_starting_size": 512}))
    return folder


def healthy(folder: Path) -> Path:
    return save_tiny(folder, "bert")


ITEM = Fault(
    source="MAGICS-LAB/DNABERT_2#9",
    check="PE240",
    where="embeddings",
    right=r"learned table of 37 positions and the files have none; alibi_starting_size is 512.*load the class",
    build=faulty,
    healthy=healthy,
)
