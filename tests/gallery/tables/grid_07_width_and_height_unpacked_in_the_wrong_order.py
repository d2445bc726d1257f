"""An image of 3 rows and 2 columns gets a table for 2 rows and 3 columns: its shape was unpacked as (B, C, W, H)."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token

OLD, NEW = (4, 4), (6, 4)
TABLE = with_class_token(trained_grid(*OLD))


def faulty(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, (4, 6)), NEW)


def healthy(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, NEW), NEW)


ITEM = Fault(
    source="facebookresearch/dinov2#582",
    check="PE222",
    where="pos_embed",
    right=r"swapped \(4 x 6\).*to size 6 x 4",
    build=faulty,
    healthy=healthy,
    evidence={"reference": Patches(TABLE, OLD)},
)
