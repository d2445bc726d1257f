"""A sink cache's text decays: kept keys are moved to their place in the window, new ones keep that in the text."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_caches import Sinking
from tests.helpers.gallery_decoding import tokens


class MovesOldKeysOnly(Sinking):
    def key_places(self, total: int, new: int, fed: int) -> Tensor:
        return torch.cat((torch.arange(total - new), torch.arange(fed - new, fed)))[None]


def faulty(_: Path) -> Any:
    return tokens(MovesOldKeysOnly())


def healthy(_: Path) -> Any:
    return tokens(Sinking())


ITEM = Fault(
    source="huggingface/transformers#33691",
    check="PE412",
    where="the cache",
    right=r"though the cache holds 6 tokens .* consecutive positions in the window",
    build=faulty,
    healthy=healthy,
)
