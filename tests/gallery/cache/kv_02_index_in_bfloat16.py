"""Far into a text positions stand still: the start index is cast to the dtype of the computation, bfloat16."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class Casts(Returning):
    def places(self, tokens: Tensor, past: int) -> Tensor:
        start = torch.tensor(past).to(torch.bfloat16).long()
        return (start + torch.arange(tokens.shape[1]))[None]


def faulty(_: Path) -> Any:
    return tokens(Casts())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="keras-team/keras-hub#1544",
    check="PE403",
    where="the cache",
    right=r"after 259 tokens it uses position 260, not position 259",
    build=faulty,
    healthy=healthy,
)
