"""Rows of long positions fade in a long training.

Cause: weight decay is given to all parameters; a row is trained by few inputs, but shrinks at every step.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_training import all_decayed, sorted_by_kind
from tests.helpers.toys import Toy


def build(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: arXiv 1711.05101 (decoupled weight decay)",
    check="PE506",
    where="positions.weight",
    right="the parameter group with weight_decay=0",
    build=build,
    healthy=build,
    evidence={"optimizer": all_decayed},
    healthy_evidence={"optimizer": sorted_by_kind},
    severity="note",
)
