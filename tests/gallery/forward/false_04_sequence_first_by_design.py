"""The tutorial was said to add positions over the batch. Its data are (T, B): dimension 0 is the sequence."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_forward import Sinusoids, Stack
from tests.helpers.toys import DIM


def build(folder: Path) -> tuple[nn.Module, tuple[Tensor, ...]]:
    return Stack(Sinusoids(DIM), batch_first=False), (torch.zeros(10, 3).long(),)


ITEM = LookAlike(source="pytorch/tutorials#1547", build=build, passes=("PE302", "PE305", "PE306", "PE309", "PE310"))
