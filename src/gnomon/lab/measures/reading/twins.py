"""A trained model beside the same model without an encoding, run on random tokens: what positions cost."""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor
from torch.nn.functional import cross_entropy

from gnomon.encodings import NoPE
from gnomon.lab.measures.base import Trained
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.model import LabModel
from gnomon.lab.tasks.base import IGNORED, Batch

Pass = Callable[[LabModel, Int64[Tensor, "B S"]], None]


def without_positions(model: LabModel) -> LabModel:
    """A copy with the same weights and no encoding."""
    twin, nothing = copy.deepcopy(model), NoPE()
    for block in twin.stack.blocks:
        block.get_submodule("attention").encoding = nothing
    return twin


@torch.no_grad()
def forward(model: LabModel, ids: Int64[Tensor, "B S"]) -> None:
    """One forward pass."""
    model(ids)


def forward_and_backward(model: LabModel, ids: Int64[Tensor, "B S"]) -> None:
    """One forward pass and the gradients of its loss, which are not kept."""
    logits = model(ids).flatten(0, 1)
    cross_entropy(logits, ids.flatten() % logits.shape[1]).backward()
    model.zero_grad()


@dataclass(frozen=True)
class BesideNoPE(ByLength):
    """A cost by length, over that of the same model without an encoding; lengths are slots of random tokens."""

    lengths: list[int]
    rows: int = 1

    @final
    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        ids = torch.randint(trained.task.vocabulary, (self.rows, length or 1), generator=generator)
        return Batch(ids, torch.full_like(ids, IGNORED))
