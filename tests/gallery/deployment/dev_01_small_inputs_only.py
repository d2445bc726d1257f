"""A table of a vision tower is never moved. Large images grow it, on the right device; small ones meet the old one."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import BufferedAngles, Turned, angles, frequencies

ROWS = 16


class GrowsOnTheDevice(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cos, self.sin = angles(ROWS)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        length = x.shape[1]
        if length > len(self.cos):
            places = torch.arange(length, device=x.device).float()
            phases = torch.outer(places, frequencies().to(x.device))
            self.cos, self.sin = phases.cos(), phases.sin()
        return self.cos[:length], self.sin[:length]


def faulty(folder: Path) -> nn.Module:
    return Turned(GrowsOnTheDevice())


def healthy(folder: Path) -> nn.Module:
    return Turned(BufferedAngles())


ITEM = Fault(
    source="vllm-project/vllm#43844, vllm-project/vllm#43760",
    check="PE602",
    where="layers.0",
    right=r"at length 4 \(not at 48\).*rotary\.cos.*register_buffer",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
