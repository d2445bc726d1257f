"""The heat map of a table has its stripes the wrong way: positions and dimensions are swapped in the formula."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier, sinusoids


class Tutorial(Classifier):
    pe: Tensor

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.register_buffer("pe", table)

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.pe[: tokens.shape[1]]
        return x


def faulty(_: Path) -> nn.Module:
    return Tutorial(sinusoids(32, 64).T.contiguous())  # 64 rows, 32 dimensions, as it should be


def healthy(_: Path) -> nn.Module:
    return Tutorial(sinusoids(64, 32))


ITEM = Fault(
    source="page: arXiv 1706.03762, section 3.5, with pos and i exchanged",
    check="PE205",
    where="pe",
    right=r"64 x 32 table is a sinusoid table with its axes swapped.*positions along the rows",
    build=faulty,
    healthy=healthy,
)
