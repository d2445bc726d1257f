"""A crash once two requests are merged: offsets of rows, [3, 9], are laid along the time axis and not down the batch.

Ids of one new token for each of two rows are (2, 1): [[3], [9]]. The time axis stays one long.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class ByRow(Toy):
    def start(self, ids: Tensor) -> Tensor:
        """(B, 1): the offset of each row."""
        return ids[:, :1]

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, self.start(ids) + ids - ids[:, :1])


class AlongTime(ByRow):
    def start(self, ids: Tensor) -> Tensor:
        return ids[:, 0]  # (B,), which broadcasts against (B, S) along S


def faulty(folder: Path) -> nn.Module:
    return AlongTimeOfOne()


class AlongTimeOfOne(AlongTime):
    """Where it is met: with one new token for each row."""

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        return super().embed(tokens, ids) if tokens.shape[1] == 1 else Toy.embed(self, tokens, ids)


def healthy(folder: Path) -> nn.Module:
    return ByRow()


ITEM = Fault(
    source="Blaizzy/mlx-vlm#1883",
    check="PE303",
    where="position_ids",
    right=r"1 places.*\(batch, sequence\)|shape \(2, 1\).*\(batch, 1\)",
    build=faulty,
    healthy=healthy,
)
