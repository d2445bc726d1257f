"""A factorised embedding has words of width 12 and a model of width 32; the position table has neither width.

The file cannot be loaded, or is loaded with the table left out, and a table is drawn anew.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only
from tests.helpers.subjects import noise


def faulty(folder: Path) -> Path:
    def widen(tensors: dict[str, Tensor]) -> None:
        tensors[only(tensors, "position_embeddings")] = noise(37, 24)

    return edited(folder, "albert", widen)


def healthy(folder: Path) -> Path:
    return edited(folder, "albert")


ITEM = Fault(
    source="page: arXiv 1909.11942, section 3.1 (factorised embeddings)",
    check="PE201",
    where="position_embeddings.weight",
    right=r"37 x 24 but vectors are 12 or 32 wide",
    build=faulty,
    healthy=healthy,
)
