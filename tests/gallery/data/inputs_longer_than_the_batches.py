"""A classifier is right on short texts and guesses on long ones, without any error.

Cause: training batches were cut to 16 tokens, the texts in use are not; later rows were never trained.
"""

from pathlib import Path

import torch

from tests.gallery.item import Fault
from tests.helpers.toys import Toy

LENGTHS = [8, 16, 17, 50]


def build(folder: Path) -> Toy:
    return Toy()


ITEM = Fault(
    source="page: arXiv 2108.12409, section 2",
    check="PE513",
    where="positions.weight",
    right="cut inputs to 16 tokens, or train on longer ones",
    build=build,
    healthy=build,
    evidence={"batches": [{"tokens": torch.arange(16)[None] + 5}], "lengths": LENGTHS},
    healthy_evidence={"batches": [{"tokens": torch.arange(50)[None] % 30 + 5}], "lengths": LENGTHS},
    severity="warning",
)
