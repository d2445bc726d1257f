"""Documents of 4 and 3 tokens on 2 ranks: lengths are divided with rounding down, and the last token is left out."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Ranked, ranks


def faulty(folder: Path) -> nn.Module:
    return Ranked(lambda rank: ([0, 1, 0], [2, 3, 1])[rank], lambda rank: ([0, 1, 4], [2, 3, 5])[rank])


def healthy(folder: Path) -> nn.Module:
    return Ranked(lambda rank: ([0, 1, 0, 1], [2, 3, 2])[rank], lambda rank: ([0, 1, 4, 5], [2, 3, 6])[rank])


ITEM = Fault(
    source="NVIDIA/TransformerEngine#1930",
    check="PE608",
    where="the ranks",
    right=r"no rank holds token 6.*padded to a multiple of the ranks",
    build=faulty,
    healthy=healthy,
    evidence=ranks(2, 7, documents=[4, 3], tokens=lambda model, rank: model.held(rank)),
)
