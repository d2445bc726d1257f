"""What the functions of this package ask of the tensors that they are given."""

import torch
from jaxtyping import Bool, Int64
from torch import Tensor

from gnomon.errors import PositionError

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


def require_tokens(real: Bool[Tensor, "B S"], noun: str) -> None:
    """Raise PositionError unless each row has a real token."""
    if real.numel() == 0:
        raise PositionError(f"There is not one token in the {noun}: the shape is {tuple(real.shape)}.")
    if torch.compiler.is_compiling():  # values cannot be read
        return
    empty = (~real.any(-1)).nonzero().flatten().tolist()
    if empty:
        raise PositionError(
            f"Row {empty[0]} of the {noun} has only padding; each row needs at least one real token, so drop the row."
        )


def integers(values: Tensor, noun: str, ndim: int) -> Int64[Tensor, "..."]:
    """The values as int64; raises PositionError for another kind of numbers or another number of dimensions."""
    if values.dtype not in INTEGERS:
        raise PositionError(f"The {noun} must be integers, got {values.dtype}.")
    if values.ndim != ndim:
        form = {1: "one-dimensional", 2: "(batch, sequence)", 3: "(batch, sequence, axes)"}[ndim]
        raise PositionError(f"The {noun} must be {form}, got shape {tuple(values.shape)}.")
    return values.to(torch.int64)


def cache_lengths_of(cache_length: Tensor) -> Int64[Tensor, " N"]:
    """Cache lengths as int64; raises PositionError for negative ones."""
    lengths = integers(cache_length, "cache lengths", ndim=1)
    if (lengths < 0).any():
        raise PositionError(f"A cache length cannot be negative, got {lengths.min().item()}.")
    return lengths


def last(positions: Int64[Tensor, "B S"], new: int) -> int:
    """The column of the first of the last `new` ones; raises PositionError unless there are as many."""
    if not 1 <= new <= positions.shape[1]:
        raise PositionError(f"There are {positions.shape[1]} columns for cache and new tokens together, got new={new}.")
    return positions.shape[1] - new
