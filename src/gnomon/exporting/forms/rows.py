"""Rows of a table by position, such that a position outside the table is an error of the runtime."""

import torch
from jaxtyping import Int, Shaped
from torch import Tensor
from torch.nn.functional import embedding


def rows(table: Shaped[Tensor, "N W"], positions: Int[Tensor, "*B S"], *, first: int = 0) -> Shaped[Tensor, "*B S W"]:
    """Row `position - first` for each position in first .. first + N - 1.

    ONNX counts negative indices from the end, so a position below the first would get the last rows without a word:
    whatever is outside becomes index N, at which Gather fails.

    >>> rows(torch.tensor([[1.0], [2.0]]), torch.tensor([1, 0])).tolist()
    [[2.0], [1.0]]
    """
    return embedding(torch.where(positions < first, table.shape[0], positions - first), table)
