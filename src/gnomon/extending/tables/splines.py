"""Cubic splines through points that lie unevenly: de Boor 1978, "A Practical Guide to Splines", chapters IX, XIII."""

import numpy as np
from jaxtyping import Float64


def spline_weights(
    knots: Float64[np.ndarray, " old"], places: Float64[np.ndarray, " new"]
) -> Float64[np.ndarray, "new old"]:
    """What each of the values at `knots` counts at each of the `places`: the not-a-knot spline is linear in them.

    `knots` rise; places beyond the ends are read at the ends. Fewer than four knots give the polynomial
    through them, one its value.

    >>> spline_weights(np.arange(5.0), np.array([1.5])) @ np.arange(5.0) ** 3
    array([3.375])
    """
    if len(knots) == 1:
        return np.ones((len(places), 1))
    degree = min(3, len(knots) - 1)
    inner = knots[2:-2] if degree == 3 else knots[:0]
    breaks = np.concatenate((np.repeat(knots[0], degree + 1), inner, np.repeat(knots[-1], degree + 1)))
    inside = np.clip(places, knots[0], knots[-1])
    coefficients = np.linalg.inv(_basis(knots, breaks, degree))
    weights: Float64[np.ndarray, "new old"] = _basis(inside, breaks, degree) @ coefficients
    return weights


def _basis(
    places: Float64[np.ndarray, " new"], breaks: Float64[np.ndarray, " breaks"], degree: int
) -> Float64[np.ndarray, "new splines"]:
    """Every B-spline at every place, by the recurrence of Cox and de Boor; the last interval is closed."""
    last = np.searchsorted(breaks, breaks[-1]) - 1
    interval = np.minimum(np.searchsorted(breaks, places, side="right") - 1, last)
    values: Float64[np.ndarray, "new splines"] = (interval[:, None] == np.arange(len(breaks) - 1)).astype(np.float64)
    for order in range(1, degree + 1):
        wide = breaks[order:] - breaks[:-order]
        share = np.divide(
            places[:, None] - breaks[:-order], wide, out=np.zeros((len(places), len(wide))), where=wide > 0
        )
        values = share[:, :-1] * values[:, :-1] + np.where(wide[1:] > 0, 1 - share[:, 1:], 0) * values[:, 1:]
    return values
