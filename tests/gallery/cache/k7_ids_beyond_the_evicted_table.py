"""A sink cache stops with an index error: its table is as long as the window, and ids go on counting the whole text."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Sinking
from tests.helpers.gallery_decoding import tokens


class CountsTheWholeText(Sinking):
    def key_places(self, total: int, new: int, fed: int) -> Tensor:
        table = torch.arange(16)  # rows of a table that the window never leaves
        return table[torch.arange(fed - total, fed)][None]


def faulty(_: Path) -> Any:
    return tokens(CountsTheWholeText())


def healthy(_: Path) -> Any:
    return tokens(Sinking())


ITEM = Fault(
    source="huggingface/transformers#32233",
    check="PE412",
    where="the cache",
    right=r"holds 6 tokens, yet decoding fails after 16: .* within the window",
    build=faulty,
    healthy=healthy,
)
