"""The same encoding on its own: told that data are batch-first, it gives every token of a row one vector."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.components import PositionalEncoding


def faulty(folder: Path) -> nn.Module:
    return PositionalEncoding(axis=0, batch_first=True)


def healthy(folder: Path) -> nn.Module:
    return PositionalEncoding(axis=1, batch_first=True)


ITEM = Fault(
    source="tanjimin/C.Origami#42, zcao0420/MOFormer#9",
    check="PE326",
    where="the module",
    right=r"every token of a row gets one vector.*pe\[:, : x.size\(1\)\]",
    build=faulty,
    healthy=healthy,
)
