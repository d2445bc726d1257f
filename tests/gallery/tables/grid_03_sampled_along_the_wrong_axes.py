"""Images that are not square take positions from the wrong places: two swaps of axes hide each other on squares.

Sampling wants (x, y), the grid of places was made as (y, x), and the order of the mesh was swapped too."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, resized, trained_grid, with_class_token

OLD, NEW = (4, 6), (6, 9)
TABLE = with_class_token(trained_grid(*OLD))


def faulty(_: Path) -> nn.Module:
    turned = TABLE[1:].unflatten(0, OLD).transpose(0, 1).flatten(0, 1)
    return Patches(resized(with_class_token(turned), (6, 4), NEW), NEW)


def healthy(_: Path) -> nn.Module:
    return Patches(resized(TABLE, OLD, NEW), NEW)


ITEM = Fault(
    source="pytorch/torchtitan#4244",
    check="PE222",
    where="pos_embed",
    right=r"rows and columns are swapped.*as 4 x 6 to size 6 x 9",
    build=faulty,
    healthy=healthy,
    evidence={"reference": Patches(TABLE, OLD)},
)
