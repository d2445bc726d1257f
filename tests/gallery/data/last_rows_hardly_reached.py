"""Long inputs fare badly, though some training texts were as long.

Cause: one text in two thousand reaches the last rows of the table.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


def build(folder: Path) -> Toy:
    return Toy(rows=64)


ITEM = Fault(
    source="page: arXiv 2305.16843 (positions drawn at random so that all rows are trained)",
    check="PE703",
    where="positions.weight",
    right="rows 40 to 63.*limit inputs to 40 tokens",
    build=build,
    healthy=build,
    evidence={"lengths": [40] * 1999 + [64]},
    healthy_evidence={"lengths": [40, 64] * 1000},
    severity="note",
)
