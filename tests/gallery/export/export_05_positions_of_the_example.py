"""The exporter writes the positions of its example into the graph: it works at that length and at no other."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import ComputedAngles, Turned, frequencies


class FromPython(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        places = torch.tensor(list(range(x.shape[1])), device=x.device).float()
        phases = torch.outer(places, frequencies().to(x.device))
        return phases.cos(), phases.sin()


def faulty(folder: Path) -> nn.Module:
    return Turned(FromPython())


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles())


ITEM = Fault(
    source="pytorch/pytorch#20075, pytorch/pytorch#117209",
    check="PE614",
    where="the exported graph",
    right=r"exported at length 6, the graph fails at 2 x 9.*from the shape of the input inside the forward",
    build=faulty,
    healthy=healthy,
)
