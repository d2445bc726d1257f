"""Packed rows under context parallelism: later documents are turned by the positions of document 0.

Two documents of 4 tokens on 2 ranks, each cut front and back: rank 0 holds tokens 0, 3, 4, 7. A table with a row for
each token has rows 0, 3, 4, 7 for them; 0, 3, 0, 3 belong to a table that restarts, and were used with this one.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Ranked, ranks

HELD = ([0, 3, 4, 7], [1, 2, 5, 6])


def faulty(folder: Path) -> nn.Module:
    return Ranked(lambda rank: [token % 4 for token in HELD[rank]], lambda rank: HELD[rank])


def healthy(folder: Path) -> nn.Module:
    return Ranked(lambda rank: HELD[rank])


ITEM = Fault(
    source="NVIDIA/Megatron-LM#5243",
    check="PE608",
    where="rank 0",
    right=r"uses positions 0, 3, 0, 3.*rank 0 turns by 0, 3, 4, 7",
    build=faulty,
    healthy=healthy,
    evidence=ranks(2, 8, tokens=lambda model, rank: model.held(rank), documents=[4, 4], counting="running"),
)
