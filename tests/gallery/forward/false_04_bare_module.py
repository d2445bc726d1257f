"""The tutorial's encoding on its own, on data (T, B, W) = (10, 3, 16): it runs along dimension 0, as it is meant to."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.components import PositionalEncoding


def build(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return PositionalEncoding(axis=0), (torch.zeros(10, 3, 16),)


ITEM = LookAlike(source="pytorch/tutorials#1547", build=build, passes=("PE326",))
