"""Search over documents misses what stands in their second half.

Cause: the tokenizer still has the limit of a smaller model and cuts every text there, though the table is longer.
"""

import json
from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import save_tiny


def _bert(folder: Path, limit: int) -> Path:
    save_tiny(folder)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit}))
    return folder


def faulty(folder: Path) -> Path:
    return _bert(folder, 20)


def healthy(folder: Path) -> Path:
    return _bert(folder, 37)


ITEM = Fault(
    source="huggingface/transformers#14243",
    check="PE704",
    where="tokenizer_config.json",
    right="set model_max_length to 37",
    build=faulty,
    healthy=healthy,
    evidence={"lengths": [10, 30, 37]},
    severity="warning",
)
