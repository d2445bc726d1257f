"""An index error on some pages: a box reaches x = 1300, and the tables of coordinates end at 1023.

Coordinates are to be scaled to 0 to 1000 by the size of the page.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import DIM, Toy

PAGE = 1400


class Page(Toy):
    def __init__(self) -> None:
        super().__init__()
        self.x_position = nn.Embedding(1024, DIM)

    def forward(self, tokens: Tensor, bbox: Tensor | None = None) -> Tensor:  # type: ignore[override]
        self.left = torch.zeros_like(tokens) if bbox is None else bbox[..., 0]
        return super().forward(tokens)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = super().embed(tokens, ids) + self.x_position(self.left)
        return x


def _example(left: int) -> dict[str, Any]:
    bbox = torch.tensor([left, 20, left + 40, 30]).expand(2, 9, 4)
    return {"tokens": torch.full((2, 9), 7), "bbox": bbox}


def faulty(folder: Path) -> tuple[nn.Module, dict[str, Any]]:
    return Page(), _example(1300)


def healthy(folder: Path) -> tuple[nn.Module, dict[str, Any]]:
    return Page(), _example(1300 * 1000 // PAGE)


ITEM = Fault(
    source="microsoft/unilm#771",
    check="PE310",
    where="",
    right="holds 1300, and x_position has rows 0 to 1023.*0 to 1000",
    build=faulty,
    healthy=healthy,
)
