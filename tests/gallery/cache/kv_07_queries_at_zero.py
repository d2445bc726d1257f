"""Queries turn as if at position 0 while decoding: their offset is taken before the cached keys are joined."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class TurnsQueriesFromZero(Returning):
    def rotate_both(self, q: Tensor, k: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        return self.rotate(q, torch.arange(q.shape[2])[None]), self.rotate(k, positions)


def faulty(_: Path) -> Any:
    return tokens(TurnsQueriesFromZero())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="RobertCsordas/moeut#6",
    check="PE403",
    where="the cache",
    right=r"after 1 tokens it uses position 0, not position 1",
    build=faulty,
    healthy=healthy,
)
