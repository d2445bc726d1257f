"""Training is slow although most texts are short.

Cause: rows are padded to the longest of a batch drawn at random, and one text in eight is forty times as long.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


def build(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: arXiv 2107.02027 (half of the tokens are padding)",
    check="PE705",
    where="the batches",
    right="group inputs by length, or pack them",
    build=build,
    healthy=build,
    evidence={"lengths": [10] * 7 + [400]},
    healthy_evidence={"lengths": [10] * 8},
    severity="note",
)
