"""Say the symbol that stood k slots before: pure position. After Barbero et al. 2024, arXiv:2410.06205, section 5."""

from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch, Classes, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_whole
from gnomon.lab.tasks.strings import drawn


@registry.register("fixed_offset")
@final
class FixedOffset(Task):
    """A string of random symbols, binary by default; at each slot t from k = `offset` on, the symbol of slot t - k.

    Where a symbol stands is all that matters: content says nothing. One head that sees a set of tokens, or whose
    logits only fall with distance, cannot single out slot t - k when k is 2 or more. A symbol is guessed with
    chance 1 / symbols.

    >>> batch = FixedOffset(offset=2).batch("test", 6, 1, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[0, 1, 1, 0, 1, 1]], [[-100, -100, 0, 1, 1, 0]])
    """

    sights = ("causal", "both")

    def __init__(self, offset: int = 2, symbols: int = 2) -> None:
        self.offset = require_whole("fixed_offset", "offset", offset, 1)
        self.symbols = require_whole("fixed_offset", "symbols", symbols, 2)
        self.vocabulary = symbols
        self.output = Classes(symbols)

    @property
    def chance(self) -> float:
        return 1 / self.symbols

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("fixed_offset", length, self.offset + 1)
        ids = drawn(self.symbols, size, count, generator, unique=False)
        return Batch(ids, earlier(ids, self.offset))


def earlier(ids: Int64[Tensor, "B S"], offset: int) -> Int64[Tensor, "B S"]:
    """At each slot the id of the slot `offset` before; the first ones have none and are not scored."""
    labels = torch.full_like(ids, IGNORED)
    labels[:, offset:] = ids[:, :-offset]
    return labels
