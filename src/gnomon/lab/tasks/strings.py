"""Rows that many generated tasks share: strings of random symbols, and an answer after a separator."""

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.lab.tasks.base import IGNORED, Batch

START, SEPARATOR, END, FIRST = 0, 1, 2, 3  #: the marks of a row with an answer, and the id of the first symbol


def drawn(symbols: int, size: int, count: int, generator: torch.Generator, *, unique: bool) -> Int64[Tensor, "B N"]:
    """`size` strings of `count` of the symbols 0 .. symbols - 1, each as likely; with `unique` none stands twice."""
    if unique:
        return torch.rand(size, symbols, dtype=torch.float64, generator=generator).argsort(-1)[:, :count]
    return torch.randint(symbols, (size, count), generator=generator)


def as_answers(source: Int64[Tensor, "B N"], answer: Int64[Tensor, "B M"]) -> Batch:
    """Rows `<start> source <separator> answer <end>`, the answer and the end scored.

    >>> batch = as_answers(torch.tensor([[3, 4]]), torch.tensor([[4, 3]]))
    >>> batch.ids.tolist(), batch.labels.tolist()
    ([[0, 3, 4, 1, 4, 3]], [[-100, -100, -100, 4, 3, 2]])
    """
    mark = torch.ones(len(source), 1, dtype=torch.int64)
    row = torch.cat((START * mark, source, SEPARATOR * mark, answer, END * mark), dim=1)
    labels = row[:, 1:].clone()
    labels[:, : source.shape[1] + 1] = IGNORED
    return Batch(row[:, :-1].contiguous(), labels)
