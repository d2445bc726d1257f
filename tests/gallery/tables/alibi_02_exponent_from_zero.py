"""All slopes are one step too steep: the exponent counts heads from 0, so the first slope is 1 and not a half."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import LinearlyBiased


def faulty(_: Path) -> nn.Module:
    return LinearlyBiased([2.0**-h for h in range(8)])


def healthy(_: Path) -> nn.Module:
    return LinearlyBiased([2.0**-h for h in range(1, 9)])


ITEM = Fault(
    source="paiml/aprender#2143",
    check="PE215",
    where="slopes",
    right=r"2 times the published ones.*published slopes are 0\.5, 0\.25, 0\.125",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
