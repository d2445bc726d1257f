"""Where the cells of a heat map stand: their edges, and whether the axis grows by sums or by ratios."""

import math
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from gnomon.plots.figure import Heatmap

Centres = Float[np.ndarray, " cells"]
Values = Float[np.ndarray, " values"]


def columns(figure: Heatmap) -> Centres:
    """Where the columns stand: `figure.x`, or 0, 1, 2, ..."""
    return np.arange(figure.values.shape[1], dtype=np.float64) if figure.x is None else figure.x


def rows(figure: Heatmap) -> Centres:
    """Where the rows stand: `figure.y`, or 0, 1, 2, ..."""
    return np.arange(figure.values.shape[0], dtype=np.float64) if figure.y is None else figure.y


def is_geometric(centres: Centres) -> bool:
    """Whether the cells grow by one ratio, as octaves do; such an axis is drawn in logarithms.

    >>> is_geometric(np.array([2.0, 4.0, 8.0])), is_geometric(np.array([2.0, 4.0, 6.0]))
    (True, False)
    """
    if len(centres) < 3 or (centres <= 0).any():
        return False
    ratios = centres[1:] / centres[:-1]
    return bool(np.allclose(ratios, ratios[0]) and not np.isclose(ratios[0], 1.0))


def edges(centres: Centres) -> Float[np.ndarray, " cells_plus_1"]:
    """The borders between cells: halfway between two centres, in logarithms where the axis is geometric.

    >>> edges(np.array([0.0, 2.0, 4.0])).tolist()
    [-1.0, 1.0, 3.0, 5.0]
    """
    if len(centres) == 1:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    scale = np.log(centres) if is_geometric(centres) else centres.astype(np.float64)
    middle = (scale[1:] + scale[:-1]) / 2
    borders = np.concatenate([[2 * scale[0] - middle[0]], middle, [2 * scale[-1] - middle[-1]]])
    return np.exp(borders) if is_geometric(centres) else borders


def round_values(low: float, high: float) -> list[float]:
    """The values 1, 2 and 5 times a power of ten from `low` to `high`, for the ticks of a logarithmic axis.

    >>> round_values(2, 60)
    [2.0, 5.0, 10.0, 20.0, 50.0]
    """
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [step * 10.0**decade for decade in decades for step in (1, 2, 5) if low <= step * 10.0**decade <= high]


def positive_span(parts: Sequence[Values]) -> tuple[float, float] | None:
    """The smallest and the largest positive value: what a logarithmic axis can show. None when there is none."""
    values = np.concatenate([np.zeros(0), *parts])
    positive = values[np.isfinite(values) & (values > 0)]
    return (float(positive.min()), float(positive.max())) if positive.size else None


def limits(figure: Heatmap) -> tuple[float, float]:
    """The values at the two ends of the colours: symmetric about zero when the figure is centred, never empty."""
    finite = figure.values[np.isfinite(figure.values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 0.0)
    if figure.centered:
        reach = figure.limit or max(abs(low), abs(high)) or 1.0
        return -reach, reach
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def has_values_beyond(figure: Heatmap) -> bool:
    """Whether some values are larger than the colours tell apart."""
    low, high = limits(figure)
    finite = figure.values[np.isfinite(figure.values)]
    return bool(((finite < low) | (finite > high)).any())
