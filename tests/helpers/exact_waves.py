"""Cosines and sines held against Python's own."""

import math
from collections.abc import Sequence

from torch import Tensor

#: Half a unit in the last place of float32 below 1 is 3e-8. What is below it here is the product in float64: at 10^7
#: radians it is off by 1e-9, in the reference as in the table.
EXACT = 6e-8


def errors(cos: Tensor, sin: Tensor, positions: Sequence[int], inverse: Sequence[float], factor: float = 1.0) -> float:
    """The largest difference from Python's own cosines and sines, number by number."""
    worst = 0.0
    for row, position in enumerate(positions):
        for pair, frequency in enumerate(inverse):
            worst = max(worst, abs(cos[row, pair].item() - factor * math.cos(position * frequency)))
            worst = max(worst, abs(sin[row, pair].item() - factor * math.sin(position * frequency)))
    return worst
