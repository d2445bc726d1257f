"""The row of zeros for the class token stands at the end of the table, although the token is put in front."""

from pathlib import Path

import torch
from torch import nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Patches, sinusoids_of_grid

GRID = (2, 3)


def faulty(_: Path) -> nn.Module:
    return Patches(torch.cat([sinusoids_of_grid(*GRID), torch.zeros(1, 32)]), GRID)


def healthy(_: Path) -> nn.Module:
    return Patches(torch.cat([torch.zeros(1, 32), sinusoids_of_grid(*GRID)]), GRID)


ITEM = Fault(
    source="huggingface/pytorch-image-models#2478",
    check="PE224",
    where="pos_embed",
    right=r"behind the 2 x 3 patches.*in front",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
