"""A table of 37 rows serves 35 positions where OPT keeps two rows in front, and the config states 37.

The rows were cut to the stated length when the checkpoint was converted; the first long text has no row.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only


def faulty(folder: Path) -> Path:
    def cut(tensors: dict[str, Tensor]) -> None:
        name = only(tensors, "embed_positions")
        tensors[name] = tensors[name][:37]

    return edited(folder, "opt", cut)


def healthy(folder: Path) -> Path:
    return edited(folder, "opt")


ITEM = Fault(
    source="huggingface/transformers#14243, huggingface/transformers#9116",
    check="PE204",
    where="embed_positions.weight",
    right=r"37 positions are stated but 37 rows serve 35.*give the table 39 rows",
    build=faulty,
    healthy=healthy,
)
