"""A left-padded batch is right in one pass and wrong in the second call: slots of the cache are counted, not tokens."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Masked, tokens


class CountsSlots(Masked):
    def from_mask(self, real: Tensor, new: int, past: int) -> Tensor:
        return torch.arange(past, past + new)[None] if past else super().from_mask(real, new, past)


def faulty(_: Path) -> Any:
    return tokens(CountsSlots())


def healthy(_: Path) -> Any:
    return tokens(Masked())


ITEM = Fault(
    source="huggingface/transformers#18104",
    check="PE403",
    where="the cache",
    right=r"left-padded batch .* the next position is the number of real tokens so far",
    build=faulty,
    healthy=healthy,
)
