"""A model as a function of named tensors: what an exporter traces, and what its graph is compared with."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

import torch
from jaxtyping import Int64
from torch import Tensor, nn

from gnomon.exporting.result import Case

#: The names of open sizes.
BATCH: Final = "batch"
SEQUENCE: Final = "sequence"


class Graph(nn.Module):
    """Tensors in the order of `inputs` to tensors in the order of `outputs`.

    `limit`: positions 0 .. limit - 1 exist in the model; None: no limit.
    """

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    limit: int | None = None

    @abstractmethod
    def forward(self, *tensors: Tensor) -> tuple[Tensor, ...]: ...

    @abstractmethod
    def draw(self, case: Case, seed: int) -> dict[str, Tensor]:
        """Arguments by name, drawn from a generator of that seed."""

    def open_sizes(self, name: str) -> dict[int, str]:
        """Which dimensions of an input are open, and what they are called."""
        return {0: BATCH, 1: SEQUENCE}

    @property
    def has_positions(self) -> bool:
        """Whether the caller says where tokens stand."""
        return "position_ids" in self.inputs

    @property
    def has_mask(self) -> bool:
        return "attention_mask" in self.inputs


def left_padded(case: Case) -> Int64[Tensor, "B C"]:
    """An attention mask over cached and new slots."""
    mask = torch.ones(case.batch, case.past + case.length, dtype=torch.int64)
    for row in range(case.batch):
        mask[row, : max(0, min(case.padding - row, mask.shape[1] - 1))] = 0
    return mask


def counted(mask: Int64[Tensor, "B C"], case: Case) -> Int64[Tensor, "B S"]:
    """Positions of the new slots: real tokens counted from `first`, and 0 for padding."""
    return (((mask.cumsum(1) - 1) + case.first) * mask)[:, case.past :]


def drawn_ids(shape: Sequence[int], vocabulary: int, seed: int) -> Int64[Tensor, "B S"]:
    """Token ids from a generator of that seed."""
    return torch.randint(0, vocabulary, tuple(shape), generator=torch.Generator().manual_seed(seed))
