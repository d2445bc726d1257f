"""Reads a map from pairs of places to entries: is the entry a function of the offset between the two places alone?"""

import numpy as np
from jaxtyping import Int64

from gnomon.doctor.evidence.index_tables import SPECIAL

Square = Int64[np.ndarray, "places places"]


def grids_of(
    square: Square, rows: int | None = None, *, distinct: bool = True, mirrored: bool = False
) -> list[tuple[int, int]]:
    """The grids (height, width) for whose offsets the map is a function, with or without a class token before them.

    `distinct`: every offset has an entry of its own; `mirrored`: only its size counts, not its direction. `rows` of the
    table, where known, tell which grids fit it.

    >>> place = np.arange(6)
    >>> square = ((place // 3)[:, None] - place // 3 + 1) * 5 + (place % 3)[:, None] - place % 3 + 2
    >>> grids_of(square)
    [(2, 3)]
    """
    fitting = []
    for part in (square, square[1:, 1:]):
        count = len(part)
        for height in (h for h in range(1, count + 1) if count % h == 0):
            width = count // height
            offsets = (2 * height - 1) * (2 * width - 1)
            fits = rows is None or not distinct or rows in (offsets, offsets + SPECIAL)
            if fits and _is_function(part, width, distinct=distinct, mirrored=mirrored):
                fitting.append((height, width))
        if fitting:
            return fitting
    return fitting


def two_sides_share(square: Square) -> tuple[int, int, int] | None:
    """A distance back and one ahead that share an entry in a map that tells the sides apart; with that entry.

    None where the map is the same on both sides, or one side has a single entry (a causal model).
    """
    back = np.array([square[i, 0] for i in range(1, len(square))])
    ahead = square[0, 1:]
    if (back == ahead).all() or len(np.unique(back)) == 1 or len(np.unique(ahead)) == 1:
        return None
    common = np.intersect1d(back, ahead)
    if not len(common):
        return None
    entry = int(common[0])
    return int(np.flatnonzero(back == entry)[0]) + 1, int(np.flatnonzero(ahead == entry)[0]) + 1, entry


def _is_function(square: Square, width: int, *, distinct: bool, mirrored: bool) -> bool:
    place = np.arange(len(square))
    down = (place // width)[:, None] - (place // width)[None, :]
    right = (place % width)[:, None] - (place % width)[None, :]
    if mirrored:
        down, right = np.abs(down), np.abs(right)
    offset = (down - down.min()) * (2 * width) + right - right.min()
    first = np.full(int(offset.max()) + 1, square.min() - 1)
    first[offset] = square
    if (first[offset] != square).any():
        return False
    used = first[first >= square.min()]
    return not distinct or len(np.unique(used)) == len(used)
