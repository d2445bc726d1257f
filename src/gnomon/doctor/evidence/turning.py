"""Columns that turn: whether complex numbers advance by one fixed angle a row, and by which, from where, how far out.

The median of the steps forgives rows that something has overwritten. Steps between neighbours give a coarse angle,
steps between rows further and further apart a fine one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex128, Float64

EVEN = 0.05  # radians a step may be off, and the part of its median that a radius may be off: bfloat16 stays inside
SHARE = 0.85  # of the rows of a pair, and of the pairs, that must turn evenly: a few overwritten rows are seen as such
TURNS = 10.0  # times the unevenness of its steps that the fastest pair must turn: a constant with noise turns by chance
FIRST_ROWS = 32  # rows that tell the phase: few enough that a rounded frequency does not add up
MOST_STEPS = 512  # steps whose median refines an angle


@dataclass(frozen=True)
class Turning:
    """Radians a row for each column, with its direction; the phase in row 0; the median radius of all columns."""

    radius: float
    phases: Float64[np.ndarray, " pairs"]
    angles: Float64[np.ndarray, " pairs"]


def measure_turning(z: Complex128[np.ndarray, "rows pairs"]) -> Turning | None:
    """The turning of the columns, or None when they do not turn evenly."""
    angles, off = _turns(z, 1)
    radius = np.median(np.abs(z), axis=0)
    even = (off <= EVEN) & (np.abs(np.abs(z[1:]) - radius) <= EVEN * radius) & (radius > 0)
    fastest = int(np.abs(angles).argmax())
    if (even.mean(axis=0) >= SHARE).mean() < SHARE or not abs(angles[fastest]) > TURNS * np.median(off[:, fastest]):
        return None
    angles = _refined(z, angles)
    unturned = (z * np.exp(-1j * angles * np.arange(len(z))[:, None]))[:FIRST_ROWS]
    return Turning(float(np.median(radius)), np.angle(_median(unturned)), angles)


def _turns(
    z: Complex128[np.ndarray, "rows pairs"], lag: int
) -> tuple[Float64[np.ndarray, " pairs"], Float64[np.ndarray, "steps pairs"]]:
    """The median angle between rows `lag` apart, and how far each such step is off it."""
    steps = z[lag:] * z[:-lag].conj()
    turn = np.angle(_median(steps))
    return turn, np.abs(np.angle(steps * np.exp(-1j * turn)))


def _refined(
    z: Complex128[np.ndarray, "rows pairs"], angles: Float64[np.ndarray, " pairs"]
) -> Float64[np.ndarray, " pairs"]:
    """The angles from rows ever further apart: the rounding of the numbers weighs ever less."""
    lag = 4
    while 2 * lag <= len(z):
        turn, _ = _turns(z[: lag + MOST_STEPS], lag)
        angles = angles + np.angle(np.exp(1j * (turn - lag * angles))) / lag
        lag *= 4
    return angles


def _median(numbers: Complex128[np.ndarray, "rows pairs"]) -> Complex128[np.ndarray, " pairs"]:
    median: Complex128[np.ndarray, " pairs"] = np.median(numbers.real, axis=0) + 1j * np.median(numbers.imag, axis=0)
    return median
