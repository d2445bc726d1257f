"""The frequency table is sliced by rank although it was sliced before: 16 tokens on 4 ranks, front and back chunks."""

from pathlib import Path

from torch import nn

from gnomon.positions.sharding import shard_index
from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Ranked, ranks

RIGHT = ([0, 1, 14, 15], [2, 3, 12, 13], [4, 5, 10, 11], [6, 7, 8, 9])


def faulty(folder: Path) -> nn.Module:
    return Ranked(lambda rank: [RIGHT[rank][i] for i in shard_index(4, rank, 4).tolist()])


def healthy(folder: Path) -> nn.Module:
    return Ranked(lambda rank: RIGHT[rank])


ITEM = Fault(
    source="NVIDIA/TransformerEngine#1626",
    check="PE608",
    where="rank 2",
    right=r"uses positions 10 for tokens at 4, 5, 10, 11: the table was sharded twice.*turns by 4, 5, 10, 11",
    build=faulty,
    healthy=healthy,
    evidence=ranks(4, 16, scheme="zigzag"),
)
