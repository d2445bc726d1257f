"""Word order is slightly wrong after an export of BART: the position table was given a padding_idx.

`padding_idx` zeroes one row, here that of position 5, and no gradient reaches it again.
"""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import DIM, Toy


def faulty(_: Path) -> nn.Module:
    model = Toy()
    model.positions = nn.Embedding(16, DIM, padding_idx=5)
    return model


def healthy(_: Path) -> nn.Module:
    return Toy(rows=16)


ITEM = Fault(
    source="huggingface/transformers#10200",
    check="PE217",
    where="positions.weight",
    right=r"silences position 5.*without padding_idx",
    build=faulty,
    healthy=healthy,
)
