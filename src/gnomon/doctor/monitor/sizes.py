"""Sizes of position parameters beside those of the words: numbers, gradients and updates, as ratios of RMS."""

import torch
from torch import Tensor

MOST_ROWS = 1024  # of a table, evenly spread, whose numbers are read or kept


def some_rows(table: Tensor) -> Tensor:
    """At most MOST_ROWS rows, evenly spread along the longest of the first axes; a view where it can be."""
    rows = table.detach()
    rows = rows.reshape(-1, rows.shape[-1]) if rows.ndim > 1 else rows[:, None]
    step = -(-rows.shape[0] // MOST_ROWS)
    return rows[::step]


def rms(values: Tensor) -> Tensor:
    """Root mean square as a scalar on the device, without waiting for it."""
    return values.float().square().mean().sqrt()


def reached(gradient: Tensor) -> Tensor:
    """RMS of a gradient over the rows that it reaches: a table's other rows were not in the batch."""
    dense = gradient.coalesce().values() if gradient.is_sparse else gradient.detach()
    rows = dense.reshape(-1, dense.shape[-1]) if dense.ndim > 1 else dense[:, None]
    squares = rows.float().square().sum(dim=1)
    hit = (squares != 0).sum().clamp(min=1)  # NaN counts as reached, and stays in the sum
    return (squares.sum() / (hit * rows.shape[1])).sqrt()


def number(value: Tensor) -> float:
    return float(value)


def ratio(part: float, whole: float) -> float | None:
    """None when there is nothing to compare with."""
    return part / whole if whole > 0 else None


def moved(before: Tensor, table: Tensor) -> float:
    """RMS of the change over the rows that changed, over the RMS those rows had before."""
    change = some_rows(table).float() - before.float()
    hit = change.abs().amax(dim=1) > 0
    if not bool(hit.any()):
        return 0.0
    size = rms(before[hit])
    return float(rms(change[hit]) / size) if float(size) > 0 else float("inf")


def kept(table: Tensor) -> Tensor:
    """A copy of the rows that `moved` will compare with."""
    return some_rows(table).clone(memory_format=torch.contiguous_format)
