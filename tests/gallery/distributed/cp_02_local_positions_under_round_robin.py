"""Tokens go to ranks in turn, but one backend turns them by local, contiguous positions: long prompts go wrong."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Ranked, ranks


def faulty(folder: Path) -> nn.Module:
    return Ranked(lambda rank: [0, 1, 2, 3])


def healthy(folder: Path) -> nn.Module:
    return Ranked(lambda rank: [rank, rank + 2, rank + 4, rank + 6])


ITEM = Fault(
    source="sgl-project/sglang#28463",
    check="PE608",
    where="rank 1",
    right=r"its own tokens counted from 0.*rank 1 turns by 1, 3, 5, 7",
    build=faulty,
    healthy=healthy,
    evidence=ranks(2, 8, scheme="round_robin"),
)
