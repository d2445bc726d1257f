"""Claim 32: what the picture of a table shows, as numbers."""

from typing import final

import torch
from torch import Tensor

from gnomon.encodings import Sinusoidal
from gnomon.lab.claims.base import Measured, Numbers, Said, claim, told
from gnomon.lab.experiments.context import Context

COUNT, WIDTH = 100, 512  #: the article's picture
FLAT = 1e-9
SLOW = 2.0  #: low columns of a healthy table change at least so many times faster than high ones


def swapped() -> Tensor:
    """The table with position and column confused: row p holds the waves of column p."""
    return Sinusoidal(COUNT).table(torch.arange(WIDTH), dtype=torch.float64).mT


def fast_to_slow(table: Tensor) -> float:
    """How much the first quarter of columns changes from row to row, over how much the last quarter does."""
    steps = table.diff(dim=0).abs().mean(0)
    quarter = table.shape[1] // 4
    return float(steps[:quarter].mean() / steps[-quarter:].mean().clamp(min=1e-12))


def flat(table: Tensor) -> float:
    """The share of columns that do not change at all."""
    return float(((table.max(0).values - table.min(0).values) < FLAT).double().mean())


@claim(32, "5.1")
@final
class HeatMap(Measured):
    """Speed of low and high columns, and flat columns, of a healthy table, one with swapped axes, and one of zeros."""

    seeded = False
    statement = (
        "The picture tells a healthy table: smooth along positions, fast low columns, slow high ones, nothing flat. "
        "Swapped axes give vertical stripes, a table that starts at zero stays one colour."
    )
    truth = "True, and each can be a number, so that nobody has to look."
    gnomon = "`gnomon plot`, figures in every HTML report; as numbers: `PE205`, `PE206`, `PE207`, `PE208`"

    def measure(self, context: Context) -> dict[str, float]:
        healthy = Sinusoidal(WIDTH).table(torch.arange(COUNT), dtype=torch.float64)
        return {
            "fast to slow, healthy": fast_to_slow(healthy),
            "fast to slow, swapped": fast_to_slow(swapped()),
            "flat, healthy": flat(healthy),
            "flat, zero": flat(torch.zeros_like(healthy)),
        }

    def judge(self, numbers: Numbers) -> Said:
        healthy, turned = numbers["fast to slow, healthy"], numbers["fast to slow, swapped"]
        even, zero = numbers["flat, healthy"].mean, numbers["flat, zero"].mean
        seen = (
            f"From row to row the first quarter of columns changes {told(healthy)} times as much as the last in a "
            f"healthy table and {told(turned)} times with swapped axes; {even:.0%} of its columns are flat, {zero:.0%} "
            "of a table of zeros."
        )
        return Said("holds" if healthy.low > SLOW > turned.high and even < 0.01 < zero else "fails", seen)
