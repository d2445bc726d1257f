"""Is a table of numbers a sinusoid table, whatever it is called, and with which base, layout, sign and shift?

In a sinusoid table two columns turn together: z = cos column + i sin column advances by one fixed angle a row. That
angle is the pair's frequency, its sign tells a flipped sine, its phase at row 0 a shift. Nothing has to be guessed
first.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64

Layout = Literal["interleaved", "half"]
EVEN = 0.05  # radians a step may be off, and the part of its median that a radius may be off: bfloat16 stays inside
SHARE = 0.85  # of the rows of a pair, and of the pairs, that must turn evenly: a few overwritten rows are seen as such
FIRST_ROWS = 32  # rows that tell the phase: few enough that a rounded frequency does not add up
PUBLISHED_BASE = 10_000.0  # Vaswani et al. 2017, section 3.5


@dataclass(frozen=True)
class Sinusoid:
    """What a table turned out to be.

    `shift` is the position that row 0 holds. `exponent` is "paper" for base^(-2i/d) and "tensor2tensor" for
    base^(-i/(d/2 - 1)). `residual` is the largest difference between the table and this description of it.
    """

    layout: Layout
    exponent: Literal["paper", "tensor2tensor"]
    base: float
    scale: float
    shift: float
    sine_sign: Literal[1, -1]
    order: Literal["sine first", "cosine first"]
    residual: float
    frequencies: Float64[np.ndarray, " pairs"]


def fit_sinusoid(table: Float64[np.ndarray, "rows dims"]) -> Sinusoid | None:
    """Describe the table as a sinusoid table, or None when it is none. Needs 8 rows and 4 columns."""
    rows, dims = table.shape
    if rows < 8 or dims < 4 or not np.isfinite(table).all():
        return None
    fits = [fit for fit in (_fit(table, layout) for layout in ("interleaved", "half")) if fit is not None]
    return min(fits, key=lambda fit: fit.residual, default=None)


def sinusoid_table(fit: Sinusoid, rows: int, dims: int) -> Float64[np.ndarray, "rows dims"]:
    """The table that a description describes, in float64."""
    angles = (np.arange(rows)[:, None] + fit.shift) * _frequencies(fit.base, dims, fit.exponent)[None, :]
    sine, cosine = fit.sine_sign * np.sin(angles), np.cos(angles)
    first, second = (sine, cosine) if fit.order == "sine first" else (cosine, sine)
    table = np.empty((rows, dims))
    for columns, values in zip(_columns(dims, fit.layout), (first, second), strict=True):
        table[:, columns] = fit.scale * values[:, : len(range(dims)[columns])]
    return table


def fit_base(frequencies: Float64[np.ndarray, " pairs"]) -> tuple[float, float] | None:
    """Base and largest relative error when the frequencies are base^(-i / pairs); None when they do not fall from 1."""
    if len(frequencies) < 2 or (frequencies <= 0).any() or abs(frequencies[0] - 1) > 1e-3:
        return None
    index = np.arange(len(frequencies)) / len(frequencies)
    log_base = float(-(index @ np.log(frequencies)) / (index @ index))
    error = np.abs(np.exp(-index * log_base) / frequencies - 1).max()
    return math.exp(log_base), float(error)


def _fit(table: Float64[np.ndarray, "rows dims"], layout: Layout) -> Sinusoid | None:
    dims = table.shape[1]
    first, second = (table[:, columns] for columns in _columns(dims, layout))
    pairs = min(first.shape[1], second.shape[1])
    z = second[:, :pairs] + 1j * first[:, :pairs]
    steps = z[1:] * z[:-1].conj()
    turn = np.median(steps.real, axis=0) + 1j * np.median(steps.imag, axis=0)
    omega = np.angle(turn)
    radius = np.abs(z)
    middle = np.median(radius, axis=0)
    off = np.abs(np.angle(steps * np.exp(-1j * omega)))
    even = (off <= EVEN) & (np.abs(radius[1:] - middle) <= EVEN * middle) & (middle > 0)
    if (even.mean(axis=0) >= SHARE).mean() < SHARE or np.abs(omega).max() < 1e-3:
        return None
    unturned = (z * np.exp(-1j * omega * np.arange(len(z))[:, None]))[:FIRST_ROWS]
    phase = np.angle(np.median(unturned.real, axis=0) + 1j * np.median(unturned.imag, axis=0))
    return min(_descriptions(table, layout, float(np.median(middle)), phase, omega), key=lambda fit: fit.residual)


def _descriptions(
    table: Float64[np.ndarray, "rows dims"],
    layout: Layout,
    scale: float,
    measured_phase: Float64[np.ndarray, " pairs"],
    omega: Float64[np.ndarray, " pairs"],
) -> Iterator[Sinusoid]:
    """Each published reading of the measured frequencies, with its residual."""
    dims = table.shape[1]
    forward = np.median(np.sign(omega)) > 0
    frequencies = np.abs(omega)
    fast = slice(0, max(2, len(omega) // 4))
    for order in ("sine first", "cosine first"):
        sign: Literal[1, -1] = 1 if forward == (order == "sine first") else -1
        phase = measured_phase if order == "sine first" else np.pi / 2 - measured_phase
        phase = np.angle(np.exp(1j * phase)) * sign
        shift = float(np.round(np.median(phase[fast] / frequencies[fast]), 3))
        for exponent in ("paper", "tensor2tensor"):
            base = _base(frequencies, dims, exponent)
            fit = Sinusoid(layout, exponent, base, scale, shift, sign, order, 0.0, frequencies)  # type: ignore[arg-type]
            residual = float(np.abs(table - sinusoid_table(fit, *table.shape)).max()) / max(scale, 1e-30)
            yield Sinusoid(layout, exponent, base, scale, shift, sign, order, residual, frequencies)  # type: ignore[arg-type]


def _base(frequencies: Float64[np.ndarray, " pairs"], dims: int, exponent: str) -> float:
    """The base by least squares on the logarithms; a base within 0.1 % of a round one is that round one."""
    weights = -np.log(_frequencies(math.e, dims, exponent))[: len(frequencies)]
    base = math.exp(float(-(weights @ np.log(np.maximum(frequencies, 1e-12))) / (weights @ weights)))
    digits = 10 ** (math.floor(math.log10(base)) - 1)
    rounded = round(base / digits) * digits
    return float(rounded) if abs(base - rounded) < 1e-3 * base else base


def _frequencies(base: float, dims: int, exponent: str) -> Float64[np.ndarray, " pairs"]:
    count = (dims + 1) // 2
    index = np.arange(count)
    powers = 2 * index / dims if exponent == "paper" else index / max(dims // 2 - 1, 1)
    return np.power(float(base), -powers)


def _columns(dims: int, layout: Layout) -> tuple[slice, slice]:
    """Columns of the first and second function of each pair; with an odd width the first has one more."""
    return (
        (slice(0, None, 2), slice(1, None, 2))
        if layout == "interleaved"
        else (slice(0, (dims + 1) // 2), slice((dims + 1) // 2, None))
    )
