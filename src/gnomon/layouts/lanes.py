"""Which rows of a tensor feed the rotated lanes of queries and keys, and the gather that moves them to other pairs."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.doctor.evidence.query_key_rows import Heads
from gnomon.kernels.rotation import Layout


@final
@dataclass(frozen=True)
class Lanes:
    """The heads in the rows of one tensor: `query` and `key` hold the first row of each head, `width` rows wide.

    Of each head the rows from `begin` on are turned, `rotated` of them; all other rows stay where they are.

    >>> Lanes(6, query=(0,), key=(), width=6, begin=0, rotated=4).order("interleaved").tolist()
    [0, 2, 1, 3, 4, 5]
    """

    rows: int
    query: tuple[int, ...]
    key: tuple[int, ...]
    width: int
    begin: int
    rotated: int

    @property
    def starts(self) -> tuple[int, ...]:
        """The first turned row of each head."""
        return tuple(start + self.begin for start in (*self.query, *self.key))

    def gather(self, to: Layout) -> Int[Tensor, " rotated"]:
        """Row i of the turned rows of a head, brought to the layout, was this one of them before."""
        return Heads(self.rotated, self.rotated).rows_of(to, self.rotated)

    def order(self, to: Layout) -> Int[Tensor, " rows"]:
        """Row i of the tensor, brought to the layout `to` from the other one, was this row before."""
        order, lanes = torch.arange(self.rows), self.gather(to)
        for start in self.starts:
            order[start : start + self.rotated] = start + lanes
        return order

    def move(self, tensor: Tensor, to: Layout) -> Tensor:
        """The tensor with its rows brought to `to`, in place: (rows, ...), or any shape of `rows` numbers.

        Bytes are moved, so that any dtype of whole bytes will do; beside the tensor only one head is in memory.
        """
        rows, lanes = tensor.reshape(self.rows, -1).view(torch.uint8), self.gather(to)
        for start in self.starts:
            rows[start : start + self.rotated] = rows[start : start + self.rotated][lanes]
        return tensor
