"""A text of 512 tokens fails on a table of 514 rows: with padding id 3, positions start at row 4.

Here 16 rows and padding id 3: 12 positions can be used. The reported table served 510.
"""

import json
from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import save_tiny


def build(folder: Path, limit: int) -> Path:
    save_tiny(folder, "roberta", pad_token_id=3, max_position_embeddings=16)
    (folder / "tokenizer_config.json").write_text(json.dumps({"model_max_length": limit}))
    return folder


def faulty(folder: Path) -> Path:
    return build(folder, 14)


def healthy(folder: Path) -> Path:
    return build(folder, 12)


ITEM = Fault(
    source="rinnakk/japanese-pretrained-models#3",
    check="PE104",
    where="tokenizer_config.json",
    right=r"serves 12 positions.*set model_max_length to 12",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
