"""Copy a string: Kazemnejad et al. 2023, arXiv:2305.19466; Huang et al. 2025, arXiv:2410.02140."""

from typing import final

import torch

from gnomon.lab.tasks.base import Batch, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice, require_whole
from gnomon.lab.tasks.strings import FIRST, as_answers, drawn


@registry.register("copy")
@final
class Copy(Task):
    """`<start> s <separator> s <end>`; the second s and the end are the answer. The length is that of s.

    With `unique` no symbol stands twice, so a model can copy by looking for the symbol before; with repeats it must
    know where it is. A symbol is guessed with chance 1 / symbols.

    >>> batch = Copy(symbols=9).batch("test", 3, 2, torch.Generator().manual_seed(0))
    >>> batch.ids.shape, batch.scored
    (torch.Size([2, 8]), 8)
    """

    autoregressive = True

    def __init__(self, symbols: int = 45, unique: bool = True) -> None:
        self.symbols = require_whole("copy", "symbols", symbols, 1)
        self.unique = require_choice("copy", "unique", unique, (True, False))
        self.vocabulary = FIRST + symbols
        self.output = NextToken()

    @property
    def chance(self) -> float:
        return 1 / self.symbols

    def slots(self, length: int) -> int:
        return 2 * length + 2

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("copy", length, 1, self.symbols if self.unique else None)
        source = FIRST + drawn(self.symbols, size, count, generator, unique=self.unique)
        return as_answers(source, source)
