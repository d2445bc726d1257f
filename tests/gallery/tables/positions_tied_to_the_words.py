"""A loop that ties all matrices of one shape ties the positions to the words, as both have 40 rows."""

from pathlib import Path

from torch import nn

from tests.gallery.item import Fault
from tests.helpers.toys import VOCABULARY, Toy


def faulty(_: Path) -> nn.Module:
    model = Toy(rows=VOCABULARY)
    tables = [part for part in model.modules() if isinstance(part, nn.Embedding)]
    for table in tables[1:]:
        table.weight = tables[0].weight
    return model


def healthy(_: Path) -> nn.Module:
    return Toy(rows=VOCABULARY)


ITEM = Fault(
    source="page: arXiv 1608.05859 (the tying of words and output that is meant)",
    check="PE218",
    where="positions.weight",
    right=r"holds the numbers of words.weight.*a parameter of their own",
    build=faulty,
    healthy=healthy,
)
