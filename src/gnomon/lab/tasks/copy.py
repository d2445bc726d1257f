"""Copy a string: Kazemnejad et al. 2023, arXiv:2305.19466; Huang et al. 2025, arXiv:2410.02140."""

from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task, registry, require_length

START, SEPARATOR, END, FIRST = 0, 1, 2, 3


@registry.register("copy")
@final
class Copy(Task):
    """`<start> s <separator> s <end>`; the second s and the end are the answer. The length is that of s.

    With `unique` no symbol stands twice, so a model can copy by looking for the symbol before; with repeats it must
    know where it is.

    >>> batch = Copy(symbols=9).batch("test", 3, 2, torch.Generator().manual_seed(0))
    >>> batch.ids.shape, batch.scored
    (torch.Size([2, 8]), 8)
    """

    autoregressive = True

    def __init__(self, symbols: int = 45, unique: bool = True) -> None:
        if symbols < 1:
            raise GnomonError(f"Copying needs at least 1 symbol, got {symbols}.")
        self.symbols, self.unique = symbols, unique
        self.vocabulary = FIRST + symbols
        self.output = NextToken()

    def slots(self, length: int) -> int:
        return 2 * length + 2

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("copy", length, 1, self.symbols if self.unique else None)
        return as_answers(self._draw(count, size, generator))

    def _draw(self, count: int, size: int, generator: torch.Generator) -> Int64[Tensor, "B N"]:
        if not self.unique:
            return FIRST + torch.randint(self.symbols, (size, count), generator=generator)
        return FIRST + torch.rand(size, self.symbols, generator=generator).argsort(-1)[:, :count]


def as_answers(source: Int64[Tensor, "B N"], answer: Int64[Tensor, "B M"] | None = None) -> Batch:
    """Rows `<start> source <separator> answer <end>`, the answer (by default the source) and the end scored."""
    answer = source if answer is None else answer
    size, count = source.shape
    mark = torch.ones(size, 1, dtype=torch.int64)
    row = torch.cat((START * mark, source, SEPARATOR * mark, answer, END * mark), dim=1)
    labels = row[:, 1:].clone()
    labels[:, : count + 1] = IGNORED
    return Batch(row[:, :-1].contiguous(), labels)
