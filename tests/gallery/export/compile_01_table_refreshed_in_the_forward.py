"""The table is refreshed inside the forward when a position exceeds it: torch.compile breaks there, in each layer."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, ComputedAngles, Turned


class Refreshed(BufferedAngles):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.arange(x.shape[1], device=x.device)
        if places.max().item() >= len(self.get_buffer("cos")):
            raise ValueError("the table is built again here")
        return super().forward(x)


def faulty(folder: Path) -> nn.Module:
    return Turned(Refreshed())


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles())


ITEM = Fault(
    source="foundation-model-stack/foundation-model-stack#64",
    check="PE615",
    where="the forward",
    right=r"breaks it into \d graphs.*\(0 breaks\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
