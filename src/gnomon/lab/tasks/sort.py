"""Sort a string: Kazemnejad et al. 2023, arXiv:2305.19466 (one token a symbol); Huang et al. 2025, arXiv:2410.02140."""

from typing import final

import torch

from gnomon.lab.tasks.base import Batch, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice, require_whole
from gnomon.lab.tasks.strings import FIRST, as_answers, drawn


@registry.register("sort")
@final
class Sort(Task):
    """`<start> s <separator> s in order <end>`; the ordered s and the end are the answer. The length is that of s.

    The order of the symbols is that of their ids, which a model does not see and must learn. With `unique` no symbol
    stands twice. Where the symbols of s stand does not matter. There is no one chance level: the first symbol of an
    ordered string is mostly a low one, and more surely so the longer the string is.

    >>> batch = Sort(symbols=9).batch("test", 4, 2, torch.Generator().manual_seed(0))
    >>> bool((batch.labels[:, 5:-1].diff() > 0).all())
    True
    """

    autoregressive = True

    def __init__(self, symbols: int = 50, unique: bool = True) -> None:
        self.symbols = require_whole("sort", "symbols", symbols, 1)
        self.unique = require_choice("sort", "unique", unique, (True, False))
        self.vocabulary = FIRST + symbols
        self.output = NextToken()

    def slots(self, length: int) -> int:
        return 2 * length + 2

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("sort", length, 1, self.symbols if self.unique else None)
        source = FIRST + drawn(self.symbols, size, count, generator, unique=self.unique)
        return as_answers(source, source.sort(-1).values)
