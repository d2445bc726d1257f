"""An optimizer whose learning rate is 0 for the position table looks as if it would never move it.

It is not: a warm-up starts every group at 0, and the table is in a group without weight decay, as it should be.
"""

from pathlib import Path

from torch import nn
from torch.optim import AdamW, Optimizer

from tests.gallery.item import LookAlike
from tests.helpers.toys import Toy


def build(folder: Path) -> Toy:
    return Toy()


def warming_up(module: nn.Module) -> Optimizer:
    matrices = [p for name, p in module.named_parameters() if p.ndim == 2 and name.startswith("layers")]
    others = [p for p in module.parameters() if all(p is not m for m in matrices)]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    return AdamW(groups, lr=0.0)


ITEM = LookAlike(
    source="page: docs.pytorch.org/docs/stable/optim.html",
    build=build,
    passes=("PE505", "PE506"),
    evidence={"optimizer": warming_up},
)
