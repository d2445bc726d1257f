"""A model with 12 heads scores worse than the one it was ported from: its slopes are one geometric series.

The published slopes are such a series only where the number of heads is a power of two.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import LinearlyBiased


def series(heads: int) -> list[float]:
    return [2 ** (-8 * h / heads) for h in range(1, heads + 1)]


def faulty(_: Path) -> nn.Module:
    return LinearlyBiased(series(12), dim=48)


def healthy(_: Path) -> nn.Module:
    return LinearlyBiased(series(8) + series(16)[:8:2], dim=48)


ITEM = Fault(
    source="ml-explore/mlx#343, ml-explore/mlx#3071",
    check="PE215",
    where="slopes",
    right=r"12 is no power of two.*published slopes are 0\.5, 0\.25",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
