"""Tables for the patches of an image: one half of the numbers tells the row of a patch, the other its column."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

EQUAL = 1e-4  # of the largest number: along the other axis a half does not change at all
EVEN = 0.02  # relative: sines and cosines of one place have one length
SPECIAL = 8  # most rows of zeros for class tokens


@dataclass(frozen=True)
class PatchGrid:
    """`rows` x `columns` patches, one after the other; rows of zeros before and after them, for class tokens."""

    rows: int
    columns: int
    before: int
    after: int


def patch_grid_of(values: Float64[np.ndarray, "places dims"]) -> PatchGrid | None:
    """The grid of a table; None for one that is none."""
    if not np.isfinite(values).all() or values.shape[1] % 4:
        return None
    filled = np.flatnonzero(values.any(axis=1))
    if not len(filled):
        return None
    before, after = int(filled[0]), len(values) - 1 - int(filled[-1])
    patches = values[filled[0] : filled[-1] + 1]
    halves = np.split(patches, 2, axis=1)
    if max(before, after) > SPECIAL or not all(_even(half) for half in halves):
        return None
    count = len(patches)
    for rows in (n for n in range(2, count // 2 + 1) if count % n == 0):
        one, other = (half.reshape(rows, count // rows, -1) for half in halves)
        if (_still(one, 1) and _still(other, 0)) or (_still(one, 0) and _still(other, 1)):
            return PatchGrid(rows, count // rows, before, after)
    return None


def _even(half: Float64[np.ndarray, "patches dims"]) -> bool:
    lengths = np.linalg.norm(half, axis=1)
    return bool(np.ptp(lengths) <= EVEN * lengths.max())


def _still(half: Float64[np.ndarray, "rows columns dims"], axis: int) -> bool:
    """Whether it does not change along this axis, and does along the other."""
    limit = EQUAL * np.abs(half).max()
    return bool(np.ptp(half, axis=axis).max() <= limit and np.ptp(half, axis=1 - axis).max() > limit)
