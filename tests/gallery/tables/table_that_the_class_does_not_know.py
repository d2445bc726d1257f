"""A model trained with a table of positions is loaded as a rotary one: the table is dropped with a log line."""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited
from tests.helpers.subjects import noise


def faulty(folder: Path) -> Path:
    def add(tensors: dict[str, Tensor]) -> None:
        tensors["embed_positions.weight"] = noise(37, 32)

    return edited(folder, "llama", add)


def healthy(folder: Path) -> Path:
    return edited(folder, "llama")


ITEM = Fault(
    source="page: huggingface.co/zhihan1996/DNABERT-2-117M, discussion 9, the other way round",
    check="PE216",
    where="embed_positions.weight",
    right=r"37 x 32 table of positions, but the config claims rotary.*correct the config's model_type",
    build=faulty,
    healthy=healthy,
)
