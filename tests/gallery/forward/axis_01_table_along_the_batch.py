"""The model trains and order is lost: a sequence-first encoding, cut by x.size(0), in a batch-first model."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


def faulty(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM), batch_first=True)


def healthy(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM, batch_first=True), batch_first=True)


ITEM = Fault(
    source="tanjimin/C.Origami#42, zcao0420/MOFormer#9",
    check="PE306",
    where="encoding",
    right="vary along the batch axis.*along the sequence axis",
    build=faulty,
    healthy=healthy,
)
