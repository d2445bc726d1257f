"""Angles are computed in float64 on the device: Apple GPUs and NPUs have none, and stop."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import HEAD_DIM, ComputedAngles, Turned


class InFloat64(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        steps = torch.arange(0, HEAD_DIM, 2, dtype=torch.float64, device=x.device) / HEAD_DIM
        phases = torch.outer(torch.arange(x.shape[1], device=x.device).double(), 10_000.0**-steps)
        return phases.cos().to(x.dtype), phases.sin().to(x.dtype)


def faulty(folder: Path) -> nn.Module:
    return Turned(InFloat64())


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles())


ITEM = Fault(
    source="huggingface/diffusers#12653, huggingface/diffusers#9047",
    check="PE606",
    where="rotary",
    right=r"float64 tensor \(4,\) on the device.*compute angles in float32",
    build=faulty,
    healthy=healthy,
    severity="note",
)
