"""Rows of cosines and sines that are kept between calls, as many as the positions that were served."""

import math
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Int
from torch import Tensor

from gnomon.kernels.tables import STEP, Pair, cos_sin_at, cos_sin_rows, empty_rows

#: A table may always have so many rows: 32 MB for heads of 128 columns.
FREE_ROWS: Final = 1 << 16
#: A longer table is worth its memory when there is a token for each so many rows.
ROWS_PER_TOKEN: Final = 4

_CPU: Final = torch.device("cpu")


@final
class HalfTable:
    """Rows 0 .. n - 1 of `cos_sin_rows` for one set of frequencies, kept on each device that asked for them.

    n follows the positions that are served, not the most that a model allows: it is a power of two up to 65536 rows,
    and then a multiple of that. A position far beyond what there is, or a negative one, is no reason to grow: its
    cosines are computed for it alone. Growing keeps the old rows while the new ones are made.

    Neither a parameter nor a buffer: no cast, move or state dict touches it. Copies and pickles leave the rows behind,
    and make them anew. Threads may share it.

    >>> table = HalfTable((1.0, 0.5))
    >>> cos, sin = table.take(torch.tensor([[3, 1]]))
    >>> sin[0]
    tensor([[0.1411, 0.9975],
            [0.8415, 0.4794]])
    >>> table.length
    256
    """

    def __init__(self, inverse: Sequence[float], *, factor: float = 1.0) -> None:
        self._frozen = (tuple(inverse), float(factor))
        self._kept: dict[torch.device, Pair] = {}

    @property
    def kept(self) -> Pair:
        """The rows that there are on the CPU."""
        return self._kept.get(_CPU) or self.rows(STEP)

    @property
    def length(self) -> int:
        """How many rows there are on the CPU."""
        return len(self._kept[_CPU][0]) if _CPU in self._kept else 0

    def rows(self, count: int, device: torch.device | str = "cpu") -> Pair:
        """Tables of at least `count` rows on this device: two of (n, P) float32. Waits for the device when it grows."""
        place = torch.device(device)
        there = self._kept.get(place)
        if there is None or len(there[0]) < count:
            grown = self._grown(count) if place == _CPU else self.rows(count)
            with torch.inference_mode(False):
                there = (grown[0].to(place), grown[1].to(place))
            self._kept = {**self._kept, place: there}
        return there

    def covering(self, positions: Int[Tensor, "*S"]) -> Pair | None:
        """Tables on the CPU that have a row for each of these positions; None where that is not worth the memory.

        Reads the values. None means that a position is negative or far out: see `cos_sin_at`.
        """
        if not positions.numel():
            return self.kept
        low, high = (int(extreme) for extreme in positions.aminmax())
        affordable = max(FREE_ROWS, ROWS_PER_TOKEN * positions.numel(), self.length + FREE_ROWS)
        return self.rows(high + 1) if low >= 0 and high < affordable else None

    def take(self, positions: Int[Tensor, "*S"]) -> Pair:
        """The rows of positions on the CPU, any of them: (..., S) int64 -> two of (..., S, P) float32."""
        tables = self.covering(positions)
        if tables is None:
            inverse, factor = self._frozen
            return cos_sin_at(positions, torch.tensor(inverse, dtype=torch.float64), factor=factor)
        index = positions.reshape(-1)
        cos, sin = (table.index_select(0, index).view(*positions.shape, table.shape[1]) for table in tables)
        return cos, sin

    def _grown(self, count: int) -> Pair:
        inverse, factor = self._frozen
        length = _enough(count)
        cos, sin = empty_rows((length, len(inverse)))
        old = self._kept.get(_CPU)
        have = 0 if old is None else len(old[0])
        if old is not None:
            cos[:have], sin[:have] = old
        cos_sin_rows(inverse, have, length - have, factor=factor, out=(cos[have:], sin[have:]))
        return cos, sin

    def __getstate__(self) -> dict[str, Any]:
        return {"_frozen": self._frozen, "_kept": {}}


def _enough(count: int) -> int:
    """The length of a table that grows to `count` rows or more.

    >>> [_enough(count) for count in (0, 257, 65_536, 65_537)]
    [256, 512, 65536, 131072]
    """
    if count <= FREE_ROWS:
        return max(STEP, 1 << (count - 1).bit_length())
    return math.ceil(count / FREE_ROWS) * FREE_ROWS
