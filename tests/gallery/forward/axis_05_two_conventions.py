"""An hour lost to two conventions: a batch-first encoding in front of torch's layers, which are sequence-first."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


def faulty(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM, batch_first=True), batch_first=False)


def healthy(folder: Path) -> nn.Module:
    return Stack(Sinusoids(DIM), batch_first=False)


ITEM = Fault(
    source="tatp22/multidim-positional-encoding#23",
    check="PE306",
    where="encoding",
    right="along dimension 1, and attention mixes along dimension 0.*batch_first=True",
    build=faulty,
    healthy=healthy,
)
