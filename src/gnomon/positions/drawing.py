"""Positions drawn at random: Ruoss et al. 2023, arXiv:2305.16843, section 3.2."""

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import PositionError


def randomized(length: int, span: int, generator: torch.Generator, *, rows: int = 1) -> Int64[Tensor, "rows length"]:
    """Rising ids, drawn without replacement from 0 .. span - 1: every subset is as likely. -> (rows, length).

    A model that trains on short sequences with such ids has seen those of long ones. The span is that of the longest
    sequence to come, or more. Each row is drawn on its own; the result is on the generator's device.

    With padding or documents in the rows, take the drawn ids by the counted ones:
    `randomized(S, span, generator, rows=B).gather(-1, from_mask(mask))`.

    >>> ids = randomized(3, 50, torch.Generator().manual_seed(0), rows=2)
    >>> ids.shape, bool((ids.diff() > 0).all())
    (torch.Size([2, 3]), True)
    """
    if not 1 <= length <= span:
        raise PositionError(
            f"From a span of {span} ids between 1 and {span} different ones can be drawn, got length={length}."
            if span >= 1
            else f"The span of ids to draw from is at least 1, got {span}."
        )
    if rows < 1:
        raise PositionError(f"At least 1 row of ids is drawn, got rows={rows}.")
    device = generator.device
    drawn = [torch.randperm(span, generator=generator, device=device)[:length] for _ in range(rows)]
    return torch.stack(drawn).sort(-1).values
