"""Every generated token sits at position 0: the position builder does not ask the cache how long it is."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class Restarts(Returning):
    def places(self, tokens: Tensor, past: int) -> Tensor:
        return torch.arange(tokens.shape[1])[None]


def faulty(_: Path) -> Any:
    return tokens(Restarts())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="Blaizzy/mlx-vlm#1983",
    check="PE403",
    where="the cache",
    right=r"after 1 tokens it uses position 0, not position 1",
    build=faulty,
    healthy=healthy,
)
