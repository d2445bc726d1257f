"""Is a table of numbers a sinusoid table, whatever it is called, and with which base, layout, sign and shift?

In a sinusoid table two columns turn together: z = cos column + i sin column advances by one fixed angle a row. That
angle is the pair's frequency, its sign tells a flipped sine, its phase at row 0 a shift. Nothing has to be guessed
first.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64

from gnomon.doctor.evidence.turning import Turning, measure_turning

Layout = Literal["interleaved", "half"]
Exponent = Literal["paper", "endpoint"]
LAYOUTS: tuple[Layout, ...] = ("interleaved", "half")
ORDERS: tuple[Literal["sine first", "cosine first"], ...] = ("sine first", "cosine first")
PUBLISHED_BASE = 10_000.0  # Vaswani et al. 2017, section 3.5
NEAR = 1e-3  # a base this close, relative, to a number of two digits is tried as that number
WHOLE = 0.01  # a shift this close to a whole number is that number
SLOW = 1e-3  # radians a row, below which a frequency weighs less in the base
ROUNDING = 1e-6  # residual of a float32 table
MOST_ROWS = 256  # rows that a residual is taken from


@dataclass(frozen=True)
class Sinusoid:
    """What a table turned out to be.

    `shift` is the position that row 0 holds. `exponent` is "paper" for base^(-2i/d) and "endpoint" for
    base^(-i/(d/2 - 1)). `residual` is how far a typical (median) row is from this description, relative to `scale`: a
    few overwritten rows do not show in it.
    """

    layout: Layout
    exponent: Exponent
    base: float
    scale: float
    shift: float
    sine_sign: Literal[1, -1]
    order: Literal["sine first", "cosine first"]
    residual: float
    frequencies: Float64[np.ndarray, " pairs"]


def fit_sinusoid(table: Float64[np.ndarray, "rows dims"]) -> Sinusoid | None:
    """Describe the table as a sinusoid table, or None when it is none. Needs 8 rows and 4 columns.

    >>> fit = fit_sinusoid(np.array([[math.sin(p), math.cos(p), math.sin(p / 20), math.cos(p / 20)] for p in range(9)]))
    >>> fit.layout, fit.base
    ('interleaved', 400.0)
    """
    rows, dims = table.shape
    if rows < 8 or dims < 4 or not np.isfinite(table).all():
        return None
    fits = [fit for layout in LAYOUTS for exponents in _readings(dims) for fit in _fit(table, layout, exponents)]
    if not fits:
        return None
    # A base in one exponent is another base in the other: of all that fit, the one that a person would have written.
    limit = max(4 * min(fit.residual for fit in fits), ROUNDING)
    return min(fits, key=lambda fit: (fit.residual > limit, fit.shift != 0, *_oddity(fit.base)))


def sinusoid_table(fit: Sinusoid, rows: int, dims: int) -> Float64[np.ndarray, "rows dims"]:
    """The table that a description describes, in float64."""
    return _values(fit, np.arange(rows), dims)


def fit_base(frequencies: Float64[np.ndarray, " pairs"]) -> tuple[float, float] | None:
    """Base and largest relative error when the frequencies are base^(-i / pairs); None when they do not fall from 1."""
    if len(frequencies) < 2 or not (frequencies > 0).all() or abs(frequencies[0] - 1) > 1e-3:
        return None
    index = np.arange(len(frequencies)) / len(frequencies)
    log_base = float(-(index @ np.log(frequencies)) / (index @ index))
    error = np.abs(np.exp(-index * log_base) / frequencies - 1).max()
    return math.exp(log_base), float(error)


def _values(fit: Sinusoid, rows: Int64[np.ndarray, " rows"], dims: int) -> Float64[np.ndarray, "rows dims"]:
    angles = (rows[:, None] + fit.shift) * _frequencies(fit.base, dims, fit.exponent)[None, :]
    sine, cosine = fit.sine_sign * np.sin(angles), np.cos(angles)
    first, second = (sine, cosine) if fit.order == "sine first" else (cosine, sine)
    table = np.zeros((len(rows), dims))
    for columns, values in zip(_columns(dims, fit.layout, fit.exponent), (first, second), strict=True):
        table[:, columns] = fit.scale * values[:, : len(range(dims)[columns])]
    return table


def _readings(dims: int) -> tuple[tuple[Exponent, ...], ...]:
    """The exponents that share one set of columns: with an odd width the two sources fill different columns."""
    return (("paper", "endpoint"),) if dims % 2 == 0 else (("paper",), ("endpoint",))


def _fit(
    table: Float64[np.ndarray, "rows dims"], layout: Layout, exponents: tuple[Exponent, ...]
) -> Iterator[Sinusoid]:
    """Every description of the table in these columns; none when the columns do not turn evenly."""
    first, second = (table[:, columns] for columns in _columns(table.shape[1], layout, exponents[0]))
    pairs = min(first.shape[1], second.shape[1])
    turning = measure_turning(second[:, :pairs] + 1j * first[:, :pairs])
    if turning is not None:
        for exponent in exponents:
            yield from _descriptions(table, layout, exponent, turning)


def _descriptions(
    table: Float64[np.ndarray, "rows dims"], layout: Layout, exponent: Exponent, turning: Turning
) -> Iterator[Sinusoid]:
    """Each published reading of the measured radius, phases and angles, with its residual."""
    forward = np.median(np.sign(turning.angles)) > 0
    frequencies = np.abs(turning.angles)
    base = _base(frequencies, table.shape[1], exponent)
    for order in ORDERS:
        sign: Literal[1, -1] = 1 if forward == (order == "sine first") else -1
        shift = _shift((turning.phases if order == "sine first" else np.pi / 2 - turning.phases) * sign, frequencies)
        for number in (_short(base), base) if abs(base - _short(base)) < NEAR * base else (base,):
            fit = Sinusoid(layout, exponent, number, turning.radius, shift, sign, order, 0.0, frequencies)
            yield replace(fit, residual=_residual(table, fit))


def _residual(table: Float64[np.ndarray, "rows dims"], fit: Sinusoid) -> float:
    rows = np.unique(np.linspace(0, len(table) - 1, MOST_ROWS).round().astype(np.int64))
    difference = np.abs(table[rows] - _values(fit, rows, table.shape[1])).max(axis=1)
    return float(np.median(difference)) / max(fit.scale, 1e-30)


def _shift(phase: Float64[np.ndarray, " pairs"], frequencies: Float64[np.ndarray, " pairs"]) -> float:
    """The position whose angles are these phases, when the slowest pair is less than half a turn away from 0 there.

    Fast pairs tell it finely, slow ones which turn it is in.
    """
    usable = frequencies > 1e-9
    phase, frequencies = phase[usable], frequencies[usable]
    guesses = np.angle(np.exp(1j * phase)) / frequencies
    agreement = np.cos(phase[None, :] - guesses[:, None] * frequencies[None, :]).sum(axis=1)
    guess = guesses[agreement.argmax()]
    fast = slice(0, max(2, len(frequencies) // 4))
    shift = guess + np.median(np.angle(np.exp(1j * (phase - guess * frequencies)))[fast] / frequencies[fast])
    return float(np.round(shift) + 0.0 if abs(shift - np.round(shift)) < WHOLE else shift)


def _base(frequencies: Float64[np.ndarray, " pairs"], dims: int, exponent: Exponent) -> float:
    """The base by least squares on the logarithms of the frequencies."""
    powers = -np.log(_frequencies(math.e, dims, exponent))[: len(frequencies)]
    weights = powers * np.minimum(frequencies / SLOW, 1.0) ** 2  # what is slower than this is measured less well
    return math.exp(float(np.clip(-(weights @ np.log(np.maximum(frequencies, 1e-12))) / (weights @ powers), -50, 50)))


def _short(base: float) -> float:
    """The nearest number of two digits."""
    digits = 10.0 ** (math.floor(math.log10(base)) - 1)
    return float(f"{round(base / digits) * digits:.6g}")


def _oddity(base: float) -> tuple[bool, bool]:
    """In the order of what people write: the published base, a number of two digits, any other."""
    return base != PUBLISHED_BASE, base != _short(base)


def _frequencies(base: float, dims: int, exponent: Exponent) -> Float64[np.ndarray, " pairs"]:
    index = np.arange(_pairs(dims, exponent))
    powers = 2 * index / dims if exponent == "paper" else index / max(dims // 2 - 1, 1)
    return np.power(float(base), -powers)


def _pairs(dims: int, exponent: Exponent) -> int:
    """With an odd width the paper has a last sine without a cosine, tensor2tensor a last column of zeros."""
    return (dims + 1) // 2 if exponent == "paper" else dims // 2


def _columns(dims: int, layout: Layout, exponent: Exponent) -> tuple[slice, slice]:
    """Columns of the first and second function of each pair."""
    count = _pairs(dims, exponent)
    end = min(2 * count, dims)
    return (slice(0, end, 2), slice(1, end, 2)) if layout == "interleaved" else (slice(0, count), slice(count, end))
