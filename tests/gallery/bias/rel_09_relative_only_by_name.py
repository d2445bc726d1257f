"""The relative option makes positions absolute: vectors of 0, 1, 2, ... are used, and nothing is shifted.

Zero frames in front of a sound then move every score; a relative term does not change.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import ShiftedBothWays, transformer_xl


class Wrong(ShiftedBothWays):
    def distances(self, length: int) -> Tensor:
        return self.vectors[:, :length]

    def shift(self, x: Tensor) -> Tensor:
        return x


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return ShiftedBothWays()


ITEM = Fault(
    source="wenet-e2e/wenet#1611, wenet-e2e/wenet#435, wenet-e2e/wenet#1612",
    check="PE311",
    where="blocks.*",
    right=r"equal tokens at one distance get other scores.*key position - query position",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
