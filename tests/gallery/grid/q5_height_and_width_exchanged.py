"""An image model is wrong on images that are not square: the mesh of rows and columns is made the other way round.

With indexing "xy" the coordinates come out as (width, height); flattened, each patch has the place of another one. On
square images the two axes are only exchanged, which training does not mind.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_images import Patches, image


class Exchanged(Patches):
    def places(self, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        row, column = torch.meshgrid(torch.arange(rows), torch.arange(columns), indexing="xy")
        return row.flatten(), column.flatten()


def faulty(folder: Path) -> Any:
    return Exchanged(), image()


def healthy(folder: Path) -> Any:
    return Patches(), image()


ITEM = Fault(
    source="huggingface/pytorch-image-models#2541",
    check="PE319",
    where="blocks.*",
    right=r"3 x 5 patches.*those of 5 x 3, height and width are exchanged.*indexing=.ij.",
    build=faulty,
    healthy=healthy,
)
