"""Position ids that are passed change nothing: the rotation counts 0, 1, 2 for itself, as ESM's once did."""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import llama


class Counts(nn.Module):
    def __init__(self, own: Any) -> None:
        super().__init__()
        self.own = own

    def forward(self, x: Tensor, position_ids: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = self.own(x, torch.arange(position_ids.shape[-1]).expand_as(position_ids))
        return cos, sin


def faulty(folder: Path) -> nn.Module:
    model = llama()
    model.model.rotary_emb = Counts(model.model.rotary_emb)
    return model  # type: ignore[no-any-return]


def healthy(folder: Path) -> Any:
    return llama()


ITEM = Fault(
    source="huggingface/transformers#35376",
    check="PE303",
    where="position_ids",
    right="0, 3, 6, .* ignored.*with the ids that are passed",
    build=faulty,
    healthy=healthy,
)
