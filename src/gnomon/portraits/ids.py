"""The figure of positions that stand for others."""

import numpy as np
from jaxtyping import Int

from gnomon.plots.figure import Curve, Lines
from gnomon.plots.portraits import MAX_POINTS, kept, sentences, thinned
from gnomon.portraits.titles import join


def ids_drawn(ids: Int[np.ndarray, " positions"], span: int, title: str) -> Lines:
    """The id that each position gets, beside counting.

    >>> [curve.y.tolist() for curve in ids_drawn(np.array([3, 7, 9]), 10, "").curves]
    [[3.0, 7.0, 9.0], [0.0, 1.0, 2.0]]
    """
    points = kept(len(ids), MAX_POINTS)
    axis = points.astype(np.float64)
    curves = Curve("drawn id", axis, ids[points].astype(np.float64)), Curve("counted", axis, axis)
    note = sentences(f"Ids are drawn from 0 to {span - 1}.", thinned(len(ids), len(points), "position"))
    return Lines(join(title, "Id of each position"), curves, "position", "id", note=note)
