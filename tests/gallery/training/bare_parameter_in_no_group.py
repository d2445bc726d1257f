"""A position table keeps its first values, though its gradient is there.

Cause: the loop sorts parameters into groups by the kind of their module; a bare nn.Parameter has no such module and
lands in no group.
"""

from pathlib import Path

from tests.gallery.item import Fault
from tests.helpers.gallery_training import BareTable, sorted_by_kind
from tests.helpers.toys import Toy


def faulty(folder: Path) -> Toy:
    return BareTable()


def healthy(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: torch documentation of torch.optim, per-parameter options",
    check="PE505",
    where="position_embedding",
    right="add position_embedding to a parameter group",
    build=faulty,
    healthy=healthy,
    evidence={"optimizer": sorted_by_kind},
)
