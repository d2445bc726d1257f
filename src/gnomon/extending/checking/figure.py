"""The loss by place in a row, before and after, as a figure."""

import numpy as np

from gnomon.extending.checking.results import AtLength, Checked
from gnomon.plots.figure import Curve, Lines


def figures(checked: Checked) -> tuple[Lines, ...]:
    """One figure for each measured length with losses by place; none for encoders."""
    return tuple(_by_place(at, checked) for at in checked.lengths if at.positions)


def _by_place(at: AtLength, checked: Checked) -> Lines:
    names = {"before": checked.models.before, "after": checked.models.after}
    curves = []
    for style, (side, name) in enumerate(names.items()):
        points = [((p.start + p.stop) / 2, value) for p in at.positions if (value := getattr(p, side)) is not None]
        if points:
            x, y = (np.array(axis, dtype=np.float64) for axis in zip(*points, strict=True))
            curves.append(Curve(f"{side}: {name}", x, y, style=style))
    return Lines(
        f"Loss by place in rows of {at.length} tokens",
        tuple(curves),
        x_label="place in the row",
        y_label="loss (nats a token)",
        log_x=True,
        note="Means over runs of places that double in width. A curve that rises tells of contexts that do not help.",
    )
