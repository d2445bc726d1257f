"""Short rows of a left-padded batch are garbage, the longest is fine: one vector of positions serves every row."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Masked, tokens


class OneForAll(Masked):
    def from_mask(self, real: Tensor, new: int, past: int) -> Tensor:
        return torch.arange(past, past + new)[None]


def faulty(_: Path) -> Any:
    return tokens(OneForAll())


def healthy(_: Path) -> Any:
    return tokens(Masked())


ITEM = Fault(
    source="unslothai/unsloth#3699, unslothai/unsloth#4078",
    check="PE401",
    where="the forward",
    right=r"derive position ids from the mask",
    build=faulty,
    healthy=healthy,
)
