"""Training stops with a device-side assert that names nothing: 16 tokens with padding id 1 need 18 rows, not 16.

Positions are counted from the row after the padding row. On a CPU the same lookup says which index is out of range.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.tiny_transformers import save_tiny


def faulty(folder: Path) -> Path:
    return save_tiny(folder, "roberta", max_position_embeddings=16)


def healthy(folder: Path) -> Path:
    return save_tiny(folder, "roberta", max_position_embeddings=18)


ITEM = Fault(
    source="facebookresearch/fairseq#757, lucidrains/phenaki-pytorch#25",
    check="PE701",
    where="position_embeddings",
    right=r"14 tokens",
    build=faulty,
    healthy=healthy,
    evidence={"lengths": [5, 16, 12]},
    severity="warning",
)
