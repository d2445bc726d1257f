"""Assisted generation leaves greedy decoding: after several accepted tokens the position moves on by one."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class AdvancesByOne(Returning):
    def places(self, tokens: Tensor, past: int) -> Tensor:
        new = tokens.shape[1]
        return torch.full((1, new), past) if past else torch.arange(new)[None]


def faulty(_: Path) -> Any:
    return tokens(AdvancesByOne())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="huggingface/transformers#30068, huggingface/transformers#30042",
    check="PE403",
    where="the cache",
    right=r"after 5 tokens it uses positions 5, 5, 5, 5, not positions 5, 6, 7, 8",
    build=faulty,
    healthy=healthy,
)
