"""Portraits of a table of positions: its values, which positions look alike, how scores change with distance.

Every function takes plain arrays and returns a figure as numbers. A table is positions x dimensions.
Big tables are thinned by leaving rows out, never by averaging: what is drawn is what the table holds. The rows that
stay are drawn at random, one from each block: at even steps, a wave shorter than two steps would show as a slow one.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from gnomon.errors import GnomonError, ShapeError
from gnomon.plots.figure import Curve, Heatmap, Lines

MAX_CELLS = 512  #: cells on one side of a heat map; more is finer than a screen shows
MAX_POINTS = 1024  #: points of one curve


def heat_map(
    table: Float[np.ndarray, "positions dims"], *, title: str = "Values of the table", max_cells: int = MAX_CELLS
) -> Heatmap:
    """The values of a table as colours: positions downwards, dimensions to the right.

    Raises ShapeError unless the table has two axes with at least one entry each.

    >>> heat_map(np.eye(3)).values.shape
    (3, 3)
    """
    values = as_table(table)
    rows, columns = kept(values.shape[0], max_cells), kept(values.shape[1], max_cells)
    drawn = values[np.ix_(rows, columns)]
    limit, clipped = _limit(drawn)
    note = sentences(
        "A column is one dimension along the positions.",
        clipped,
        thinned(values.shape[0], len(rows), "position"),
        thinned(values.shape[1], len(columns), "dimension"),
        blanks(drawn, "values are not finite and are left blank"),
    )
    x, y = columns.astype(np.float64), rows.astype(np.float64)
    return Heatmap(title, finite_or_nan(drawn), "dimension", "position", "value", True, note, x, y, limit)


def similarity(
    table: Float[np.ndarray, "positions dims"], *, title: str = "Similarity of positions", max_cells: int = MAX_CELLS
) -> Heatmap:
    """The cosine of the angle between the vectors of every two positions.

    A row of zeros has no direction: its cells are NaN and stay blank. Raises ShapeError as `heat_map` does.

    >>> similarity(np.array([[1.0, 0.0], [0.0, 2.0]])).values.tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    values = as_table(table)
    rows = kept(values.shape[0], max_cells)
    drawn = finite_or_nan(values[rows])
    norms = np.linalg.norm(drawn, axis=1, keepdims=True)
    units = np.divide(drawn, norms, out=np.full_like(drawn, np.nan), where=norms > 0)
    cosines = np.clip(units @ units.T, -1.0, 1.0)
    note = sentences(
        "Cosine of the angle between two positions; a band along the diagonal means that near positions look alike.",
        thinned(values.shape[0], len(rows), "position"),
        blanks(units.sum(axis=1), "positions are zero or not finite and are left blank"),
    )
    axis = rows.astype(np.float64)
    return Heatmap(title, cosines, "position", "position", "cosine", True, note, axis, axis, limit=1.0)


def decay(
    distances: Float[np.ndarray, " distances"],
    scores: Float[np.ndarray, " distances"] | Float[np.ndarray, "curves distances"],
    *,
    names: Sequence[str] = ("score",),
    title: str = "Score by distance",
    y_label: str = "score",
) -> Lines:
    """Attention scores (or biases) by the distance between query and key, one curve for each name.

    Raises ShapeError when the scores have another length than the distances, or another number of rows than the names.

    >>> [curve.name for curve in decay(np.arange(3.0), np.zeros((2, 3)), names=("head 1", "head 2")).curves]
    ['head 1', 'head 2']
    """
    x, table = np.asarray(distances, dtype=np.float64), np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if x.ndim != 1 or not x.size or table.shape != (len(names), x.size):
        raise ShapeError(
            f"Scores need one row for each of {len(names)} names and one column for each distance; "
            f"got scores {np.shape(scores)} and distances {np.shape(distances)}."
        )
    points = kept(x.size, MAX_POINTS)
    points[0] = 0  # the nearest distance is what the others are read against
    curves = tuple(Curve(name, x[points], finite_or_nan(row[points])) for name, row in zip(names, table, strict=True))
    note = sentences(thinned(x.size, len(points), "distance"))
    return Lines(title, curves, "distance (positions)", y_label, note=note)


def as_table(table: Any) -> Float[np.ndarray, "positions dims"]:
    """The table in float64; raises ShapeError unless it is positions x dimensions, GnomonError unless it is real."""
    values = np.asarray(table)
    if values.ndim != 2 or not values.size:
        raise ShapeError(f"A table is positions x dimensions with at least one entry each; got shape {values.shape}.")
    if values.dtype.kind not in "fiub":
        raise GnomonError(f"A table holds real numbers; got dtype {values.dtype}. Convert it to float32 first.")
    return values.astype(np.float64)


def kept(count: int, limit: int) -> Int[np.ndarray, " drawn"]:
    """The indices that are drawn: all, or one from each block so that at most `limit` are left; always the same ones.

    >>> kept(3, 3).tolist(), (kept(7, 3) // 3).tolist()
    ([0, 1, 2], [0, 1, 2])
    """
    if limit < 1:
        raise GnomonError(f"At least one cell must be drawn; got a limit of {limit}.")
    step = math.ceil(count / limit)
    starts = np.arange(0, count, step)
    indices: np.ndarray = np.minimum(starts + np.random.default_rng(0).integers(step, size=len(starts)), count - 1)
    return indices


def thinned(count: int, drawn: int, noun: str) -> str:
    """The sentence that owns up to what was left out; empty when nothing was."""
    if drawn == count:
        return ""
    return f"Drawn: {drawn} of {count} {noun}s, one from each {math.ceil(count / drawn)} at random."


def blanks(values: np.ndarray, what: str) -> str:
    """The sentence that counts what cannot be drawn; empty when everything can."""
    count = int((~np.isfinite(values)).sum())
    return f"{count} {what}." if count else ""


def finite_or_nan(values: np.ndarray) -> np.ndarray:
    """Infinities as NaN, which every renderer leaves blank."""
    return np.where(np.isfinite(values), values, np.nan)


def _limit(values: np.ndarray) -> tuple[float | None, str]:
    """Where the colours end when a few outliers would wash out the rest, with the sentence that says so."""
    sizes = np.abs(values[np.isfinite(values)])
    usual, largest = (float(np.quantile(sizes, 0.998)), float(sizes.max())) if sizes.size else (0.0, 0.0)
    if not 0 < usual < largest / 2:
        return None, ""
    return usual, f"Colours end at {usual:.2g}; the largest value has size {largest:.3g}."


def sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)
