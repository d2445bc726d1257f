"""Six heads have the first six slopes of eight: the ones between, which six heads take from sixteen, are missing.

The reported code made slopes for the next power of two and failed on the shape; cut to six without the published
interleaving it runs, and is wrong.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import LinearlyBiased


def faulty(_: Path) -> nn.Module:
    return LinearlyBiased([2.0**-h for h in range(1, 7)], dim=48)


def healthy(_: Path) -> nn.Module:
    return LinearlyBiased([0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125], dim=48)


ITEM = Fault(
    source="huggingface/transformers#28380",
    check="PE215",
    where="slopes",
    right=r"published slopes are 0\.25, 0\.0625, 0\.015625, 0\.00390625, 0\.5, 0\.125",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
