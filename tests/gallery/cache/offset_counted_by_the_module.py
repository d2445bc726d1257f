"""One user's text decodes rightly; two served in turn get each other's positions.

Cause: the number of past tokens is an attribute of the module, set by the call before, and not read off the cache.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class Counts(Returning):
    seen = 0

    def places(self, tokens: Tensor, past: int) -> Tensor:
        start = self.seen if past else 0
        self.seen = start + tokens.shape[1]
        return torch.arange(start, self.seen)[None]


def faulty(_: Path) -> Any:
    return tokens(Counts())


def healthy(_: Path) -> Any:
    return tokens(Returning())


ITEM = Fault(
    source="lvyufeng/PocketLLM#123",
    check="PE403",
    where="the cache",
    right=r"two texts decoded in turn, each with its own cache.*off the cache that is passed",
    build=faulty,
    healthy=healthy,
)
