"""Retrieval from far back fails: every layer has one ALiBi slope, and its heads are all equally near-sighted.

The list of slopes, one a head, was indexed by the number of the layer.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Sloped, published


class OneSlope(Sloped):
    def slopes(self) -> Tensor:
        return published(self.heads)[:1].expand(self.heads)  # [layer]: here of the first


def faulty(folder: Path) -> nn.Module:
    return OneSlope()


def healthy(folder: Path) -> nn.Module:
    return Sloped()


ITEM = Fault(
    source="page: arXiv 2108.12409 (section 3: a slope for each head, the same in all layers)",
    check="PE308",
    where="blocks",
    right=r"all 4 heads have one slope, 0\.25.*0\.25, 0\.0625, 0\.01562, 0\.003906",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
