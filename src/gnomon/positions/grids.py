"""Positions of images and videos: the coordinates of each token, in reading order."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Int64
from torch import Tensor

from gnomon.errors import PositionError


def grid(*sizes: int, prefix: int = 0, device: torch.device | str | None = None) -> Int64[Tensor, "1 S axes"]:
    """Coordinates of one grid, such as (height, width) or (time, height, width). -> (1, prefix + product, axes).

    The last axis moves fastest, which is how `x.flatten(-2)` lays out an image (..., height, width). `prefix` tokens
    without a place (class and register tokens) stand first, with -1 on every axis. For one axis use `after(0, n)`.

    >>> grid(2, 3, prefix=1).tolist()
    [[[-1, -1], [0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]]
    """
    return from_grids([sizes], prefix=prefix, device=device)


def from_grids(
    sizes: Sequence[Sequence[int]], *, prefix: int = 0, device: torch.device | str | None = None
) -> Int64[Tensor, "1 S axes"]:
    """Packing and grids: images of any sizes in one row, each from coordinate 0 and with a `prefix` of its own.

    `documents_from_grids` says which image each token belongs to, for the mask. The sizes are those of the grid that
    attention sees: patches, after any merging.

    >>> from_grids([(1, 2), (2, 1)]).tolist()
    [[[0, 0], [0, 1], [0, 0], [1, 0]]]
    """
    axes = _checked(sizes, prefix)
    parts = []
    for size in sizes:
        along = (torch.arange(extent, device=device) for extent in size)
        parts.append(torch.full((prefix, axes), -1, device=device))
        parts.append(torch.stack(torch.meshgrid(*along, indexing="ij"), dim=-1).reshape(-1, axes))
    return torch.cat(parts)[None]


def documents_from_grids(
    sizes: Sequence[Sequence[int]], *, prefix: int = 0, device: torch.device | str | None = None
) -> Int64[Tensor, "1 S"]:
    """Which image each token of `from_grids` belongs to, 0 .. N - 1, its prefix too. -> (1, T).

    >>> documents_from_grids([(1, 2), (2, 1)], prefix=1)
    tensor([[0, 0, 0, 1, 1, 1]])
    """
    _checked(sizes, prefix)
    tokens = torch.tensor([prefix + math.prod(size) for size in sizes], device=device)
    return torch.repeat_interleave(torch.arange(len(sizes), device=device), tokens)[None]


def _checked(sizes: Sequence[Sequence[int]], prefix: int) -> int:
    """The number of axes that all grids have."""
    axes = {len(size) for size in sizes}
    if len(axes) != 1:
        raise PositionError(
            f"Grids need at least one size, and all as many axes; got {[tuple(size) for size in sizes]}."
        )
    [count] = axes
    if count < 2:
        raise PositionError(f"A grid has at least 2 axes, got {tuple(sizes[0])}; for one axis use after(0, length).")
    for size in sizes:
        if min(size) < 1:
            raise PositionError(f"A grid has at least 1 place along each axis, got {tuple(size)}.")
    if prefix < 0:
        raise PositionError(f"A grid has 0 or more prefix tokens, got prefix={prefix}.")
    return count
