"""Add two numbers digit by digit: Kazemnejad et al. 2023, arXiv:2305.19466; the answer reversed as in Zhou et al. 2024,
arXiv:2402.09371."""

from typing import Literal, final, get_args

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch, NextToken, Split, Task, registry, require_length
from gnomon.lab.tasks.options import require_choice

Answer = Literal["forwards", "reversed"]
PLUS, EQUALS, START, END = 10, 11, 12, 13  #: digits are their own ids


@registry.register("addition")
@final
class Addition(Task):
    """`<start> a + b = sum <end>`, each digit a token; the sum and the end are the answer.

    Both numbers have `length` digits, and neither begins with 0 unless it is one digit long. (In the paper numbers of
    different lengths are added too.) The sum has as many digits as it has, `length` or one more, so some rows end in
    padding. `answer`: "forwards" as one writes it, or "reversed", the units first, so that each digit follows from the
    digits above it and one carry. A digit is guessed with chance 1 / 10.

    >>> batch = Addition("reversed").batch("test", 2, 1, torch.Generator().manual_seed(0))
    >>> batch.ids.tolist(), batch.labels[:, 6:].tolist()
    ([[12, 3, 9, 10, 7, 3, 11, 2, 1, 1]], [[2, 1, 1, 13]])
    """

    vocabulary = 14
    autoregressive = True

    def __init__(self, answer: Answer = "forwards") -> None:
        self.answer = require_choice("addition", "answer", answer, get_args(Answer))
        self.output = NextToken()

    @property
    def chance(self) -> float:
        return 1 / 10

    def slots(self, length: int) -> int:
        return 3 * length + 4

    def batch(self, split: Split, length: int | None, size: int, generator: torch.Generator) -> Batch:
        count = require_length("addition", length, 1)
        a, b = _number(size, count, generator), _number(size, count, generator)
        units_first, carry = _sum(a, b)
        row = torch.full((size, self.slots(count) + 1), END)
        row[:, : 2 * count + 3] = _asked(a, b)
        answer = torch.cat((units_first, torch.where(carry, 1, END)[:, None]), dim=1)
        if self.answer == "forwards":
            longer = torch.cat((torch.ones(size, 1, dtype=torch.int64), units_first.flip(-1)), dim=1)
            shorter = torch.cat((units_first.flip(-1), torch.full((size, 1), END)), dim=1)
            answer = torch.where(carry[:, None], longer, shorter)
        row[:, 2 * count + 3 : -1] = answer
        return _scored(row, 2 * count + 2, carry)


def _number(size: int, count: int, generator: torch.Generator) -> Int64[Tensor, "B N"]:
    digits = torch.randint(10, (size, count), generator=generator)
    if count > 1:
        digits[:, 0] = torch.randint(1, 10, (size,), generator=generator)
    return digits


def _sum(a: Int64[Tensor, "B N"], b: Int64[Tensor, "B N"]) -> tuple[Int64[Tensor, "B N"], Tensor]:
    """The lowest N digits of the sum, units first, and whether there is one more, which is a 1."""
    carry, digits = torch.zeros(len(a), dtype=torch.int64), []
    for column in range(a.shape[1] - 1, -1, -1):
        total = a[:, column] + b[:, column] + carry
        digits.append(total % 10)
        carry = total // 10
    return torch.stack(digits, dim=1), carry == 1


def _asked(a: Int64[Tensor, "B N"], b: Int64[Tensor, "B N"]) -> Int64[Tensor, "B 2N+3"]:
    mark = torch.ones(len(a), 1, dtype=torch.int64)
    return torch.cat((START * mark, a, PLUS * mark, b, EQUALS * mark), dim=1)


def _scored(row: Int64[Tensor, "B S+1"], equals: int, carry: Tensor) -> Batch:
    """A row without a carry has one END too many, which is padding: neither told nor scored."""
    labels, real = row[:, 1:].clone(), torch.ones_like(row[:, 1:], dtype=torch.bool)
    labels[:, :equals] = IGNORED
    labels[~carry, -1] = IGNORED
    real[~carry, -1] = False
    return Batch(row[:, :-1].contiguous(), labels, real)
