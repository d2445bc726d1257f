"""XLNet makes its relative positions with a bare `arange`: on the CPU, copied to the device in every call.

The result is right; the device waits for the host once in each forward.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_deployment import HEAD_DIM, ComputedAngles, Turned, frequencies

ROWS = 512


class MadeOnTheHost(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        phases = torch.outer(torch.arange(ROWS).float(), frequencies(HEAD_DIM))
        phases = phases.to(x.device)[: x.shape[1]]
        return phases.cos(), phases.sin()


def faulty(folder: Path) -> nn.Module:
    return Turned(MadeOnTheHost())


def healthy(folder: Path) -> nn.Module:
    return Turned(ComputedAngles())


ITEM = Fault(
    source="huggingface/transformers#44824, huggingface/transformers#44737",
    check="PE602",
    where="rotary",
    right=r"copied to the device in each forward.*pass device=",
    build=faulty,
    healthy=healthy,
    severity="note",
)
