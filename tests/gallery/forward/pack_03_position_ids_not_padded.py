"""A crash at step 0: tokens are padded to a multiple of 8, and position ids of three axes are left as they were."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy

LENGTH, PADDED = 34, 40


class ThreeAxes(Toy):
    """Position ids are (3, B, S): time, row and column."""

    def forward(self, tokens: Tensor, position_ids: Tensor | None = None) -> Tensor:  # type: ignore[override]
        return super().forward(tokens, None, None if position_ids is None else position_ids[-1])


def _example(places: int) -> dict[str, Any]:
    return {"tokens": torch.full((2, PADDED), 7), "position_ids": torch.arange(places).expand(3, 2, -1)}


def faulty(folder: Path) -> tuple[nn.Module, dict[str, Any]]:
    return ThreeAxes(), _example(LENGTH)


def healthy(folder: Path) -> tuple[nn.Module, dict[str, Any]]:
    return ThreeAxes(), _example(PADDED)


ITEM = Fault(
    source="hiyouga/LlamaFactory#10782",
    check="PE310",
    where="position_ids",
    right="position_ids has 34 places and tokens has 40.*the same 40 places",
    build=faulty,
    healthy=healthy,
)
