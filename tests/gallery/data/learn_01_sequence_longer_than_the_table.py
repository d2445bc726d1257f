"""Training stops with an index error at the first long sentence.

Cause: the table has 100 rows and some sentences have 128 tokens; nothing compares the two before the lookup.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


def faulty(folder: Path) -> Toy:
    return Toy(rows=100)


def healthy(folder: Path) -> Toy:
    return Toy(rows=128)


ITEM = Fault(
    source="bentrevett/pytorch-seq2seq#89",
    check="PE701",
    where="positions.weight",
    right="more than 100 tokens, up to 128.*split or cut inputs to 100 tokens",
    build=faulty,
    healthy=healthy,
    evidence={"lengths": [40, 90, 128, 17]},
    severity="warning",
)
