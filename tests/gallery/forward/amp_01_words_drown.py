"""Is sqrt(d) needed? With words of std 0.02 beside sinusoids of RMS 0.71, positions are 35 times as loud."""

from pathlib import Path

import torch
from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


def _built(scale: float) -> nn.Module:
    model = Stack(Sinusoids(DIM, batch_first=True), batch_first=True, scale=scale)
    with torch.no_grad():
        nn.init.normal_(model.words.weight, std=0.02, generator=torch.Generator().manual_seed(0))
    return model


def faulty(folder: Path) -> nn.Module:
    return _built(1.0)


def healthy(folder: Path) -> nn.Module:
    return _built(DIM**0.5)


ITEM = Fault(
    source="SamLynnEvans/Transformer#10",
    check="PE211",
    where="",
    right=r"positions are 3\d\.?\d* times the size of words.*sqrt\(d\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
