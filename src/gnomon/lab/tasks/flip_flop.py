"""Read what was written last: Liu et al. 2023, arXiv:2306.00946 (flip-flop language modeling); used for contextual
position encoding by Golovneva et al. 2024, arXiv:2405.18719."""

from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_share

WRITE, IGNORE, READ, BIT = 0, 1, 2, 3  #: the bits 0 and 1 have the ids BIT and BIT + 1


@registry.register("flip_flop")
@final
class FlipFlop(Task):
    """`length` instructions, each with a bit: write b, ignore b, read b. The bit read is the one written last.

    The first instruction is a write and the last is a read; of those between, the share `ignore` is ignored on average,
    and writes and reads have half of the rest each. The bits of writes and ignores are random; only those of reads are
    scored. `test_ignore` is the share in test rows, by default the same; the paper trains at 0.8 and tests at 0.98 too,
    where the last write is far back, and at 0.1, where there are many. A bit is guessed with chance 1 / 2.

    >>> batch = FlipFlop(ignore=0.2).batch("test", 4, 1, torch.Generator().manual_seed(2))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[0, 3, 0, 4, 2, 4, 2]], [[-100, -100, -100, -100, 4, -100, 4]])
    """

    vocabulary = 5
    chance = 1 / 2

    def __init__(self, ignore: float = 0.8, test_ignore: float | None = None) -> None:
        self.ignore = require_share("flip_flop", "ignore", ignore)
        tested = ignore if test_ignore is None else test_ignore
        self.test_ignore = require_share("flip_flop", "test_ignore", tested)
        self.output = NextToken()

    def slots(self, length: int) -> int:
        return 2 * length - 1

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("flip_flop", length, 2)
        instructions = self._instructions(split, (size, count), generator)
        bits = _read(instructions, BIT + torch.randint(2, (size, count), generator=generator))
        row = torch.stack((instructions, bits), dim=-1).flatten(1)
        labels = row[:, 1:].masked_fill(row[:, :-1] != READ, IGNORED)
        return Batch(row[:, :-1].contiguous(), labels)

    def _instructions(self, split: Split, shape: tuple[int, int], generator: torch.Generator) -> Int64[Tensor, "B N"]:
        share = self.ignore if split == "train" else self.test_ignore
        odds = torch.tensor([(1 - share) / 2, share, (1 - share) / 2], dtype=torch.float64)
        drawn = torch.multinomial(odds, shape[0] * shape[1], replacement=True, generator=generator).reshape(shape)
        drawn[:, 0], drawn[:, -1] = WRITE, READ
        return drawn


def _read(instructions: Int64[Tensor, "B N"], bits: Int64[Tensor, "B N"]) -> Int64[Tensor, "B N"]:
    """The bits, with those of reads replaced by the bit of the last write before."""
    here = torch.arange(instructions.shape[1]).expand_as(instructions)
    last_write = torch.where(instructions == WRITE, here, 0).cummax(-1).values
    return torch.where(instructions == READ, bits.gather(1, last_write), bits)
