"""Which waves a table of positions carries, and how long they are."""

import math
from collections.abc import Mapping

import numpy as np
from jaxtyping import Float, Int

from gnomon.errors import GnomonError, ShapeError
from gnomon.plots.figure import Curve, Heatmap, Lines
from gnomon.plots.portraits import MAX_CELLS, as_table, blanks, finite_or_nan, kept, sentences, thinned

BANDS_PER_OCTAVE = 4
PADDING = 16  #: the table is padded to this many lengths, so that bands near its length hold several frequencies
MAX_PADDED = 1 << 17


def spectrum(
    table: Float[np.ndarray, "positions dims"], *, title: str = "Waves along the positions", max_cells: int = MAX_CELLS
) -> Heatmap:
    """The share of each dimension's energy in each band of wavelengths, from the Fourier transform along positions.

    Bands are quarter octaves from 2 positions (the shortest wave that integer positions can carry) to twice the table's
    length; the mean of a dimension is taken out first. A constant dimension carries no wave and stays blank.
    Needs at least 4 positions; raises ShapeError otherwise.

    >>> wave = np.sin(2 * np.pi * np.arange(64.0) / 8)[:, None]
    >>> figure = spectrum(wave)
    >>> bool(abs(np.log2(figure.y[figure.values[:, 0].argmax()] / 8)) <= 1 / 8)  # the right quarter octave
    True
    """
    values = as_table(table)
    positions, dims = values.shape
    if positions < 4:
        raise ShapeError(f"A spectrum needs at least 4 positions; got a table of shape {values.shape}.")
    columns = kept(dims, max_cells)
    waves = finite_or_nan(values[:, columns])
    borders = _borders(positions)
    size = max(positions, min(PADDING * positions, MAX_PADDED))
    bands = np.searchsorted(borders, size / np.arange(1, size // 2 + 1), side="right") - 1  # of each frequency but 0
    shares = np.stack([_shares(wave, size, bands, len(borders) - 1) for wave in waves.T], axis=1)
    note = sentences(
        "Share of a dimension's energy in each quarter octave; waves longer than the table end up near its length.",
        thinned(dims, len(columns), "dimension"),
        blanks(shares[0], "dimensions are constant or not finite and are left blank"),
    )
    centres = np.sqrt(borders[1:] * borders[:-1])
    label = "wavelength (positions)"
    return Heatmap(title, shares, "dimension", label, "share", False, note, columns.astype(np.float64), centres)


def wavelengths(
    frequencies: Float[np.ndarray, " pairs"],
    *,
    context_length: int | None = None,
    title: str = "Wavelength of each frequency",
) -> Lines:
    """How many positions one turn of each frequency (radians a position) takes, against the context length.

    A frequency of zero never turns and is left out. Raises GnomonError for negative or infinite frequencies.

    >>> wavelengths(np.array([1.0, 0.1])).curves[0].y.round(2).tolist()
    [6.28, 62.83]
    """
    values = _checked(frequencies)
    curves = [_wavelength_curve("wavelength", values)]
    lengths = curves[0].y
    still = len(values) - len(lengths)
    note = f"{still} of {len(values)} frequencies are zero: they never turn." if still else ""
    if context_length is not None:
        ends = np.array([0.0, max(len(values) - 1.0, 1.0)])
        curves.append(Curve(f"context length {context_length}", ends, np.full(2, float(context_length))))
        complete = int((lengths <= context_length).sum())
        turns = f"{complete} of {len(values)} frequencies complete a turn within {context_length} positions."
        note = sentences(turns, note)
    return Lines(title, tuple(curves), "frequency index", "wavelength (positions)", log_y=True, note=note)


def compared_wavelengths(
    frequencies: Mapping[str, Float[np.ndarray, " pairs"]], *, title: str = "Wavelengths compared"
) -> Lines:
    """The wavelengths of several rows of frequencies, one named curve each; what never turns is left out of its curve.

    Raises GnomonError for negative or infinite frequencies.

    >>> figure = compared_wavelengths({"plain": np.array([1.0, 0.1]), "stretched": np.array([0.5, 0.0])})
    >>> [(curve.name, len(curve.y)) for curve in figure.curves]
    [('plain', 2), ('stretched', 1)]
    """
    curves, notes = [], []
    for name, row in frequencies.items():
        curves.append(_wavelength_curve(name, _checked(row)))
        still = len(row) - len(curves[-1].y)
        notes.append(f"{still} of {len(row)} frequencies of {name!r} are zero: they never turn." if still else "")
    note = sentences(*notes)
    return Lines(title, tuple(curves), "frequency index", "wavelength (positions)", log_y=True, note=note)


def _checked(frequencies: Float[np.ndarray, " pairs"]) -> Float[np.ndarray, " pairs"]:
    values = np.asarray(frequencies, dtype=np.float64)
    if values.ndim != 1 or not np.isfinite(values).all() or (values < 0).any():
        raise GnomonError("Frequencies are one row of finite numbers, zero or more, in radians a position.")
    return values


def _wavelength_curve(name: str, frequencies: Float[np.ndarray, " pairs"]) -> Curve:
    turning = np.flatnonzero(frequencies > 0)
    return Curve(name, turning.astype(np.float64), 2 * math.pi / frequencies[turning])


def _borders(positions: int) -> Float[np.ndarray, " bands_plus_1"]:
    bands = math.ceil(BANDS_PER_OCTAVE * math.log2(positions)) + 1
    return 2.0 * 2.0 ** ((np.arange(bands + 1) - 0.5) / BANDS_PER_OCTAVE)


def _shares(
    wave: Float[np.ndarray, " positions"], size: int, bands: Int[np.ndarray, " frequencies"], count: int
) -> Float[np.ndarray, " bands"]:
    centred = wave - wave.mean()
    transform = np.fft.rfft(centred, size)[1:]
    power = transform.real**2 + transform.imag**2
    energy = np.bincount(bands, weights=power, minlength=count)[:count]  # waves longer than the last band are left out
    total = energy.sum()
    resolvable = np.abs(centred).max() > 1e-12 * np.abs(wave).max()
    return energy / total if np.isfinite(total) and resolvable and total > 0 else np.full(len(energy), np.nan)
