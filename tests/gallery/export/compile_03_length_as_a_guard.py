"""A length kept as a Python number is a guard: every new length compiles again, as a new table in each call does."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import ComputedAngles, Turned, frequencies


class KeepsLength(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.tensor(list(range(x.shape[1])), device=x.device).float()
        phases = torch.outer(places, frequencies().to(x.device))
        return phases.cos(), phases.sin()


def faulty(folder: Path) -> nn.Module:
    return Turned(KeepsLength())


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles())


ITEM = Fault(
    source="Dao-AILab/quack#150, huggingface/diffusers#10959",
    check="PE615",
    where="the forward",
    right=r"5 lengths compile [5-9] graphs.*at most 2 compilations",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
