"""Is the number of ones odd? Kazemnejad et al. 2023, arXiv:2305.19466; why it is hard: Hahn 2020, arXiv:1906.06755."""

from typing import final

import torch

from gnomon.lab.tasks.base import IGNORED, Batch, Classes, Split, Task, registry, require_length

ASK = 2


@registry.register("parity")
@final
class Parity(Task):
    """A binary string and a mark; at the mark, 1 if the number of ones is odd, else 0. The length is that of the bits.

    Which bits are set does not matter, only how many. Without looking, one is right with chance 1 / 2, and after all
    bits but one too.

    >>> batch = Parity().batch("test", 3, 2, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels[:, -1].tolist()
    ([[0, 1, 1, 2], [0, 1, 1, 2]], [0, 0])
    """

    vocabulary = 3
    sights = ("causal", "both")
    chance = 1 / 2

    def __init__(self) -> None:
        self.output = Classes(2)

    def slots(self, length: int) -> int:
        return length + 1

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("parity", length, 1)
        bits = torch.randint(2, (size, count), generator=generator)
        ids = torch.cat((bits, torch.full((size, 1), ASK)), dim=1)
        labels = torch.full_like(ids, IGNORED)
        labels[:, -1] = bits.sum(-1) % 2
        return Batch(ids, labels)
