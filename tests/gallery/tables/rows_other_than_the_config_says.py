"""Loading stops with "size mismatch", or draws a fresh table where it is told to carry on.

Cause: the file holds another number of rows than the config states; it was saved for another length.
"""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only
from tests.helpers.tiny_transformers import LENGTH


def cut(tensors: dict[str, Tensor]) -> None:
    name = only(tensors, "wpe.weight")
    tensors[name] = tensors[name][: LENGTH - 5]


def faulty(folder: Path) -> Path:
    return edited(folder, "gpt2", cut)


def healthy(folder: Path) -> Path:
    return edited(folder, "gpt2")


ITEM = Fault(
    source="roboflow/rf-detr#365, Gourieff/ComfyUI-ReActor#20",
    check="PE213",
    where="wpe.weight",
    right=rf"it is {LENGTH - 5} x \d+ in the file and {LENGTH} x \d+ by the config",
    build=faulty,
    healthy=healthy,
)
