"""The figures of a table of positions, one row a position."""

import numpy as np
from jaxtyping import Float

from gnomon.plots.figure import Figure
from gnomon.plots.portraits import decay, heat_map, similarity
from gnomon.plots.spectra import spectrum
from gnomon.portraits.titles import join

MIN_POSITIONS = 4  #: a shorter table has no spectrum


def table_portrait(table: Float[np.ndarray, "positions dims"], *, title: str = "") -> tuple[Figure, ...]:
    """Values, waves, similarity, and the mean cosine by distance of a table; `title` goes in front of each title."""
    distances, cosines = cosine_by_distance(table)
    return (
        heat_map(table, title=join(title, "Values of the table")),
        *waves(table, title),
        similarity(table, title=join(title, "Similarity of positions")),
        decay(
            distances,
            cosines,
            names=("mean cosine",),
            title=join(title, "Similarity by distance"),
            y_label="mean cosine of two positions",
        ),
    )


def waves(table: Float[np.ndarray, "positions dims"], title: str) -> tuple[Figure, ...]:
    """The spectrum, of a table that is long enough to have one."""
    return (spectrum(table, title=join(title, "Waves along the positions")),) if len(table) >= MIN_POSITIONS else ()


def cosine_by_distance(
    table: Float[np.ndarray, "positions dims"],
) -> tuple[Float[np.ndarray, " distances"], Float[np.ndarray, " distances"]]:
    """For each distance, the mean cosine of the pairs of positions that far apart; rows of zeros count as cosine 0.

    >>> cosine_by_distance(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]))[1].round(6).tolist()
    [1.0, 0.0, 1.0]
    """
    values = np.asarray(table, dtype=np.float64)
    norms = np.linalg.norm(values, axis=1, keepdims=True)
    units = np.divide(values, norms, out=np.zeros_like(values), where=(norms > 0) & np.isfinite(norms))
    count = len(units)
    # Sums over the pairs at each distance are an autocorrelation; twice the length keeps the ends from wrapping round.
    power = (np.abs(np.fft.rfft(units, 2 * count, axis=0)) ** 2).sum(axis=1)
    sums = np.fft.irfft(power, 2 * count)[:count]
    return np.arange(count, dtype=np.float64), sums / np.arange(count, 0, -1)
