"""A table for 2 x 8 patches is used for 4 x 4 as it is: resizing compares only how many patches there are."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token

OLD, NEW = (2, 8), (4, 4)
TABLE = with_class_token(trained_grid(*OLD))


def faulty(_: Path) -> nn.Module:
    return Patches(TABLE, NEW)


def healthy(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, NEW), NEW)


ITEM = Fault(
    source="huggingface/pytorch-image-models#2737",
    check="PE222",
    where="pos_embed",
    right=r"left as it was.*interpolate the old table as 2 x 8 to size 4 x 4",
    build=faulty,
    healthy=healthy,
    evidence={"reference": Patches(TABLE, OLD)},
)
