"""PE212: the last rows of a learned table look as they did before training."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured

SMOOTH = 0.5  # median cosine of neighbours in a trained region
ROUGH = 0.1  # below: neighbours are unrelated, as in a fresh table
RUN = 16  # rows; a shorter tail is not judged


@check("PE212", "untrained-rows", severity="warning", needs=(position_tables, "trained"))
def untrained_rows(subject: Subject) -> Iterator[Finding | Measured]:
    """The early rows of a learned table are smooth, as training makes them; the last are noise, as in a fresh table.

    Why: a row is trained only by inputs that reach it. When training texts were shorter than the table, the last rows
    still hold their initial noise, and a long input reads noise for a position: the model accepts it and gets worse.

    Fix: limit inputs to the trained length, train on longer texts, or fill the tail by interpolating the trained rows.

    Sources: Wang and Chen 2020, arXiv:2010.04903 (neighbouring positions of trained tables are alike). Measured: the
    median cosine of neighbouring rows is 0.85 in all-MiniLM-L6-v2, and 0 in a fresh table.
    """
    if not subject.trained:
        raise MissingEvidence("the weights do not come from a checkpoint")
    judged = False
    for table in position_tables(subject):
        if table.kind != "learned" or len(table.used()) < 4 * RUN or not np.isfinite(table.values).all():
            continue
        judged = True
        tail = noisy_tail(table.used())
        yield Measured(f"noisy rows at the end of {table.name}", tail, RUN, "neighbours unrelated after a smooth start")
        if tail >= RUN:
            trained = len(table.used()) - tail
            yield Finding(
                table.name,
                f"rows up to {trained} are smooth, the last {tail} look untrained",
                f"keep inputs to {trained} positions, or interpolate the trained rows over the tail",
                {"trained": trained, "noisy": tail},
            )
    if not judged:
        raise MissingEvidence(f"no learned table of at least {4 * RUN} finite rows")


def noisy_tail(rows: Float64[np.ndarray, "rows dims"]) -> int:
    """How many last rows are unrelated to their neighbours, when the first quarter is smooth; else 0."""
    # Not centred: the mean of the trained rows, taken off the fresh ones, would make those look alike.
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-30)
    near = (unit[1:] * unit[:-1]).sum(axis=1)
    if np.median(near[: len(near) // 4]) < SMOOTH:
        return 0
    windows = np.lib.stride_tricks.sliding_window_view(near, RUN)
    smooth = np.flatnonzero(np.median(windows, axis=1) >= ROUGH)
    if not len(smooth) or smooth[-1] == len(windows) - 1:
        return 0
    return int(len(near) - smooth[-1] - RUN // 2)  # half of the last smooth window is still smooth
