"""Ulysses with rotary: the table is cut to the local length but not moved to the rank's place; rank 1 starts at 0."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import Ranked, ranks


def faulty(folder: Path) -> nn.Module:
    return Ranked(lambda rank: list(range(4)))


def healthy(folder: Path) -> nn.Module:
    return Ranked(lambda rank: list(range(4 * rank, 4 * rank + 4)))


ITEM = Fault(
    source="deepspeedai/Megatron-DeepSpeed#392, deepspeedai/Megatron-DeepSpeed#385",
    check="PE608",
    where="the ranks",
    right=r"4 different positions for 8 tokens: every rank counts its own.*positions 0 to 7 like the tokens",
    build=faulty,
    healthy=healthy,
    evidence=ranks(2, 8),
)
