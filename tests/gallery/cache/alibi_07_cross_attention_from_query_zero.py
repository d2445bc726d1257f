"""Training and decoding differ in cross attention: with one query its index is 0, and a bias -m |i - j| is another row.

For query 2 of 4 over six keys the row is -m [2, 1, 0, 1, 2, 3], in one pass and one token at a time.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Crossing
from tests.helpers.gallery_decoding import DIM, example


class FromZero(Crossing):
    def query_places(self, tokens: Tensor, past: int) -> Tensor:
        return torch.arange(tokens.shape[1])[None]


def with_source(model: Crossing) -> Any:
    source = torch.randn(2, 6, DIM, generator=torch.Generator().manual_seed(0))
    return model.eval(), {**example(), "source": source}


def faulty(_: Path) -> Any:
    return with_source(FromZero())


def healthy(_: Path) -> Any:
    return with_source(Crossing())


ITEM = Fault(
    source="Dao-AILab/flash-attention#907",
    check="PE403",
    where="the cache",
    right=r"differs from one pass .* at the cache's length, in biases too",
    build=faulty,
    healthy=healthy,
)
