"""Resizing takes the list of patches for a square, whatever grid it was: here 2 x 8 is read as 4 x 4.

Where the number of patches is no square, as 6 for 2 x 3, the same code fails with an assertion."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token

OLD, NEW = (2, 8), (4, 8)
TABLE = with_class_token(trained_grid(*OLD))


def faulty(_: Path) -> nn.Module:
    return Patches(resized(TABLE, (4, 4), NEW), NEW)


def healthy(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, NEW), NEW)


ITEM = Fault(
    source="huggingface/pytorch-image-models#2317, facebookresearch/dinov2#506",
    check="PE222",
    where="pos_embed",
    right=r"read as 4 x 4.*interpolate the old table as 2 x 8",
    build=faulty,
    healthy=healthy,
    evidence={"reference": Patches(TABLE, OLD)},
)
