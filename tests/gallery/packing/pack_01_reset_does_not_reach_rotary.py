"""A flag that restarts positions for each document has no effect: rotary angles are built from 0 .. L-1 in the forward.

With a perfect block mask a pure rotation hides it, since only distances count; the ids that are passed are ignored.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_decoding import Returning, tokens


class TakesIds(Returning):
    """A decoder with rotary positions that takes position ids."""

    given: Tensor | None = None

    def places(self, tokens: Tensor, past: int) -> Tensor:
        return super().places(tokens, past) if self.given is None else self.given

    def forward(self, tokens: Tensor, position_ids: Tensor | None = None) -> Tensor:  # type: ignore[override]
        self.given = position_ids
        logits, _ = super().forward(tokens)
        self.given = None
        return logits


class BuildsItsOwn(TakesIds):
    def places(self, tokens: Tensor, past: int) -> Tensor:
        return torch.arange(tokens.shape[1])[None]


def faulty(_: Path) -> Any:
    return tokens(BuildsItsOwn())


def healthy(_: Path) -> Any:
    return tokens(TakesIds())


ITEM = Fault(
    source="NVIDIA/Megatron-LM#453",
    check="PE303",
    where="position_ids",
    right=r"they are ignored .* with the ids that are passed, not with arange",
    build=faulty,
    healthy=healthy,
)
