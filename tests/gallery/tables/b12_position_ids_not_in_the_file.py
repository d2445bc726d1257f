"""A file without position ids: the model counts its patches for itself, and no index has to be read."""

from pathlib import Path

from torch import Tensor

from tests.gallery.item import LookAlike
from tests.helpers.gallery_tables import edited


def build(folder: Path) -> Path:
    def drop(tensors: dict[str, Tensor]) -> None:
        for name in [name for name in tensors if name.endswith("_ids")]:
            del tensors[name]

    return edited(folder, "roberta", drop)


ITEM = LookAlike(source="huggingface/text-generation-inference#1064", build=build, passes=("PE214", "PE213"))
