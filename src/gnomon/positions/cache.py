"""Positions of tokens that follow a cache."""

import torch
from jaxtyping import Int64, Shaped
from torch import Tensor

from gnomon.errors import PositionError
from gnomon.positions.checking import cache_lengths_of


def after(
    cache_length: int | Shaped[Tensor, " B"], new: int, *, device: torch.device | str | None = None
) -> Int64[Tensor, "rows new"]:
    """Positions of `new` tokens that follow a cache. An int -> (1, new); (B,) lengths, one a row -> (B, new).

    `device` is where the result for an int is made; lengths in a tensor keep their device. For a padded batch use
    `after_mask`: a padded cache is longer than the number of its real tokens.

    >>> after(torch.tensor([4, 0]), 2)
    tensor([[4, 5],
            [0, 1]])
    """
    if new < 1:
        raise PositionError(f"There must be at least 1 new token, got {new}.")
    if isinstance(cache_length, int):
        if cache_length < 0:
            raise PositionError(f"A cache length cannot be negative, got {cache_length}.")
        return torch.arange(cache_length, cache_length + new, device=device)[None]
    lengths = cache_lengths_of(cache_length)
    return lengths[:, None] + torch.arange(new, device=lengths.device)
