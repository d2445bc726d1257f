"""Where positions may be. The checks read values, so they do nothing in a traced graph and on the meta device."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from gnomon.errors import GnomonError, PositionError


def require_int64(positions: Tensor) -> None:
    """Raise PositionError for another dtype: half precision cannot tell ids above 256 apart."""
    if positions.dtype != torch.int64:
        raise PositionError(f"Positions must be int64, got {positions.dtype}; build them with gnomon.positions.")


def checked_order(order: Sequence[int] | None, axes: int) -> tuple[int, ...]:
    """Whose turn is first, second, ...; by default that of the axes themselves. Raises unless each has one turn."""
    given = tuple(range(axes)) if order is None else tuple(order)
    if sorted(given) != list(range(axes)):
        raise GnomonError(f"The order of {axes} axes names each of 0 to {axes - 1} once, got {given}.")
    return given


def checked_grid(grid: Sequence[int], axes: int) -> tuple[int, ...]:
    """The grid as a tuple; raises GnomonError unless it has a size of at least 1 for each axis."""
    if len(grid) != axes or min(grid) < 1:
        raise GnomonError(f"A grid of {axes} axes has {axes} sizes of at least 1, got {tuple(grid)}.")
    return tuple(grid)


def absent(positions: Int[Tensor, "*BS axes"]) -> Bool[Tensor, "*BS 1"]:
    """Which tokens have no place on the grid: their coordinates are -1 on all axes. (..., S, axes) -> (..., S, 1).

    >>> absent(torch.tensor([[-1, -1], [0, -1], [2, 3]])).flatten().tolist()
    [True, False, False]
    """
    return (positions == -1).all(-1, keepdim=True)


def require_on_grid(positions: Int[Tensor, "*BS axes"], grid: Sequence[int], *, name: str = "grid") -> None:
    """Raise PositionError unless all coordinates are on a grid of this size, or -1 on all axes for no place.

    `name` is what the error calls the grid.
    """
    if _unreadable(positions):
        return
    ends = torch.tensor(grid, device=positions.device)
    outside = (((positions < 0) | (positions >= ends)) & ~absent(positions)).nonzero()
    if len(outside):
        axis, value = int(outside[0, -1]), int(positions[tuple(outside[0])])
        raise PositionError(
            f"Coordinate {value} of axis {axis} is outside the {name} {tuple(grid)}: that axis has 0 to "
            f"{grid[axis] - 1} ({grid[axis]} in all); use a larger {name}, or -1 on every axis for a "
            "token without a place."
        )


def require_below(positions: Int[Tensor, "*BS"], end: int, *, owner: str, advice: str) -> None:
    """Raise PositionError, which names the owner and gives the advice, unless all positions are in 0 .. end - 1."""
    if _unreadable(positions):
        return
    low, high = (int(extreme) for extreme in positions.aminmax())
    if low < 0 or high >= end:
        raise PositionError(
            f"Position {low if low < 0 else high} is outside {owner}: it has positions 0 to {end - 1} "
            f"(max_length={end}); {advice}."
        )


def _unreadable(positions: Tensor) -> bool:
    return torch.compiler.is_compiling() or positions.is_meta or positions.numel() == 0
