"""Say the token before: what a previous-token head does. Barbero et al. 2024, arXiv:2410.06205, section 5."""

from typing import final

import torch

from gnomon.lab.tasks.base import Batch, Classes, Split, Task, registry, require_length
from gnomon.lab.tasks.fixed_offset import earlier
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.strings import drawn


@registry.register("previous_token")
@final
class PreviousToken(Task):
    """A string of random symbols; at each slot but the first, the symbol of the slot before. The length is that of it.

    One causal head without positions cannot do it: after a start, x, x it cannot tell the two x apart (proposition
    5.2). It is `fixed_offset` with an offset of 1 and many symbols. A symbol is guessed with chance 1 / symbols.

    >>> batch = PreviousToken(symbols=9).batch("test", 4, 1, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[8, 0, 2, 6]], [[-100, 8, 0, 2]])
    """

    sights = ("causal", "both")

    def __init__(self, symbols: int = 16) -> None:
        self.symbols = require_whole("previous_token", "symbols", symbols, 2)
        self.vocabulary = symbols
        self.output = Classes(symbols)

    @property
    def chance(self) -> float:
        return 1 / self.symbols

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("previous_token", length, 2)
        ids = drawn(self.symbols, size, count, generator, unique=False)
        return Batch(ids, earlier(ids, 1))
