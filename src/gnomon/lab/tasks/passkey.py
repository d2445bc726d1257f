"""Find a number in noise and say it at the end: Mohtashami and Jaggi 2023, arXiv:2305.16300; Chen et al. 2023,
arXiv:2306.15595."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_share, require_whole

START, KEY, ASK, DIGIT, NOISE = 0, 1, 2, 3, 13  #: the ids of the marks, of the digit 0, and of the first noise token


@registry.register("passkey")
@final
class Passkey(Task):
    """`<start> noise <key> d1 .. dk noise <ask> d1 .. dk`; the second key, k = `digits` random digits, is the answer.

    The length is the number of slots, from the start to the last digit but one. `depth` is the share of the noise that
    stands before the key: from the first number to the second, each as likely. `at_depth` gives the same task at one
    depth, to measure a trained model depth by depth. A digit is guessed with chance 1 / 10.

    >>> task = Passkey(digits=2, noise=1)
    >>> rows = [task.at_depth(d).batch("test", 9, 1, torch.Generator().manual_seed(0)) for d in (0.0, 0.5, 1.0)]
    >>> [batch.ids[0].tolist().index(KEY) for batch in rows]
    [1, 3, 4]
    """

    autoregressive = True
    chance = 1 / 10

    def __init__(self, digits: int = 5, noise: int = 8, depth: Sequence[float] = (0.0, 1.0)) -> None:
        self.digits = require_whole("passkey", "digits", digits, 1)
        self.noise = require_whole("passkey", "noise", noise, 1)
        self.depth = _range(depth)
        self.vocabulary = NOISE + noise
        self.output = NextToken()

    def at_depth(self, depth: float) -> "Passkey":
        """The same task with every key at one depth: 0 for the start of the noise, 1 for its end."""
        return Passkey(self.digits, self.noise, (depth, depth))

    def slots(self, length: int) -> int:
        return length

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        slots = require_length("passkey", length, 2 * self.digits + 2)
        key = DIGIT + torch.randint(10, (size, self.digits), generator=generator)
        mark = torch.ones(size, 1, dtype=torch.int64)
        row = torch.cat((START * mark, self._hidden(key, slots, generator), ASK * mark, key), dim=1)
        labels = row[:, 1:].clone()
        labels[:, : -self.digits] = IGNORED
        return Batch(row[:, :-1].contiguous(), labels)

    def _hidden(self, key: Int64[Tensor, "B N"], slots: int, generator: torch.Generator) -> Int64[Tensor, "B M"]:
        """The key, after its mark, in noise."""
        size, width = len(key), slots - self.digits - 1
        low, high = self.depth
        depth = low + (high - low) * torch.rand(size, 1, dtype=torch.float64, generator=generator)
        before = (depth * (width - self.digits - 1)).round().long()
        noise = NOISE + torch.randint(self.noise, (size, width), generator=generator)
        place = torch.arange(width) - before  # counted from the mark
        digit = key.gather(1, (place - 1).clamp(0, self.digits - 1))
        inside = (place >= 1) & (place <= self.digits)
        return torch.where(place == 0, KEY, torch.where(inside, digit, noise))


def _range(depth: Sequence[float]) -> tuple[float, float]:
    given = tuple(depth) if isinstance(depth, Sequence) and not isinstance(depth, str) else ()
    if len(given) != 2:
        raise GnomonError(f"The task 'passkey' takes depth as the lowest and the highest, got {depth!r}.")
    low, high = (require_share("passkey", "depth", each) for each in given)
    if low > high:
        raise GnomonError(f"The task 'passkey' takes depth as the lowest and then the highest, got {depth!r}.")
    return low, high
