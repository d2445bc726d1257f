"""CoCa registers its causal mask for the last length as a buffer: ranks with other lengths cannot broadcast it."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned, angles


class Recached(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cos", torch.empty(0, 4), persistent=False)
        self.register_buffer("sin", torch.empty(0, 4), persistent=False)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        if len(self.get_buffer("cos")) != x.shape[1]:
            cos, sin = (table.to(x.device) for table in angles(x.shape[1]))
            self.register_buffer("cos", cos, persistent=False)
            self.register_buffer("sin", sin, persistent=False)
        return self.get_buffer("cos"), self.get_buffer("sin")


def faulty(folder: Path) -> nn.Module:
    return Turned(Recached())


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles())


ITEM = Fault(
    source="lucidrains/CoCa-pytorch#17, modelscope/ms-swift#10187",
    check="PE610",
    where="rotary.cos",
    right=r"\(5, 4\) after 5 tokens and \(7, 4\) after 7.*keep cos out of the buffers",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
