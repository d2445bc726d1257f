"""Details of a long prompt get mixed up in training.

Cause: the loop casts every tensor of the batch to bfloat16, position ids too: 257 becomes 256, 259 becomes 260.
"""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.toys import Toy

TOKENS, PLACES = torch.arange(512)[None] % 30 + 5, torch.arange(512)[None]


def faulty(folder: Path) -> tuple[Toy, dict[str, Tensor]]:
    return Toy(rows=600), {"tokens": TOKENS, "position_ids": PLACES.bfloat16()}


def healthy(folder: Path) -> tuple[Toy, dict[str, Tensor]]:
    return Toy(rows=600), {"tokens": TOKENS, "position_ids": PLACES}


ITEM = Fault(
    source="Nerogar/OneTrainer#1177",
    check="PE514",
    where="position_ids",
    right="385 of 512 stay apart.*keep position ids int64",
    build=faulty,
    healthy=healthy,
)
