"""The file has no position table under the name that the class expects, and loading draws a new one."""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only


def faulty(folder: Path) -> Path:
    def rename(tensors: dict[str, Tensor]) -> None:
        tensors["embeddings.table_of_places"] = tensors.pop(only(tensors, "position_embeddings"))

    return edited(folder, "bert", rename)


def healthy(folder: Path) -> Path:
    return edited(folder, "bert")


ITEM = Fault(
    source="huggingface/transformers#31387",
    check="PE213",
    where="position_embeddings.weight",
    right=r"in no file.*rename the key in the file",
    build=faulty,
    healthy=healthy,
)
