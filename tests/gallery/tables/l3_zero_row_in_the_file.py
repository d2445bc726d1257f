"""The file that was exported so holds a row of zeros among the rows that positions use."""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only


def faulty(folder: Path) -> Path:
    def silence(tensors: dict[str, Tensor]) -> None:
        tensors[only(tensors, "encoder.embed_positions")][7] = 0  # two rows come before position 0

    return edited(folder, "bart", silence)


def healthy(folder: Path) -> Path:
    return edited(folder, "bart")


ITEM = Fault(
    source="huggingface/transformers#10200",
    check="PE206",
    where="encoder.embed_positions.weight",
    right=r"1 rows that positions use are all zero, first row 7.*remove padding_idx",
    build=faulty,
    healthy=healthy,
)
