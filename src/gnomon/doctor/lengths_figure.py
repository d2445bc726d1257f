"""The figure of input lengths: how many inputs have how many tokens, with the limits of the model as lines."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.length_limits import length_limits
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.plots.figure import Curve, Figure, Lines

BINS = 60


def lengths_figure(subject: Subject) -> Iterator[Figure]:
    """One figure where lengths were given, none otherwise."""
    if not subject.has("lengths"):
        return
    used = lengths_in_use(subject)
    stated = (attempt(length_limits, subject) or ())[:1]
    end = max(int(used.max()), *(limit.tokens for limit in stated), 1) + 1
    counts, edges = np.histogram(used, bins=min(BINS, end), range=(0, end))
    x, y = np.repeat(edges, 2)[1:-1], np.repeat(counts.astype(float), 2)
    lines = [Curve("inputs", x, y)]
    for limit in stated:
        height = np.array([0.0, float(counts.max())])
        lines.append(Curve(f"limit {limit.tokens}", np.full(2, float(limit.tokens)), height))
    beyond = f", {float((used > stated[0].tokens).mean()):.1%} beyond the limit" if stated else ""
    yield Lines(
        "lengths of the inputs",
        tuple(lines),
        x_label="tokens",
        y_label="inputs",
        note=f"{len(used)} inputs, median {int(np.median(used))} tokens{beyond}",
    )
