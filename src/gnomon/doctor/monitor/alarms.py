"""Thresholds on what is measured while training; each says why it stands where it stands, and fires once a place."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gnomon.doctor.checks.norm_ratio import LOUDEST, QUIETEST
from gnomon.doctor.checks.update_ratio import LEAST, MOST
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding

RISE = Threshold(0.3, "nats above the best earlier positions: perplexity grows by a third")
COUNTED = 200  # tokens in a bucket before its loss is judged
GRADIENT = Threshold(1e-3, "gradient of a position row / of a word row; starved below")


@dataclass(frozen=True)
class Alarm:
    """Numbers under `measure` must stay between `low` and `high`."""

    measure: str
    low: float
    high: float
    what: str
    fix: str


ALARMS = (
    Alarm(
        "norm ratio",
        QUIETEST,
        LOUDEST,
        "positions have {value:.3g} times the size of words",
        "scale words or positions so that neither drowns (PE211)",
    ),
    Alarm(
        "gradient ratio",
        GRADIENT.value,
        math.inf,
        "the gradient of a position row is {value:.2g} of that of a word row: positions starve",
        "remove the scale that shrinks positions, or give them their own learning rate (PE501)",
    ),
    Alarm(
        "update ratio",
        LEAST,
        MOST,
        "an optimizer step moves positions by {value:.2g} times what it moves words, relative to their sizes",
        "give positions the learning rate of the words (PE507)",
    ),
)


def crossed(values: Mapping[str, float]) -> Iterator[Finding]:
    """A finding for each number that left its range; `values` are named "measure/place"."""
    for name, value in values.items():
        measure, _, place = name.partition("/")
        for alarm in ALARMS:
            if measure == alarm.measure and not alarm.low <= value <= alarm.high:
                yield Finding(place, alarm.what.format(value=value), alarm.fix, {measure: value}, severity="warning")


def rising(buckets: Mapping[tuple[int, int], tuple[float, int]]) -> Iterator[Finding]:
    """A finding when the loss of later positions is above the best of earlier ones."""
    best: tuple[float, tuple[int, int]] | None = None
    for place, (mean, count) in buckets.items():
        if count < COUNTED:
            continue
        if best is not None and mean - best[0] > RISE.value:
            yield Finding(
                f"positions from {place[0]}",
                f"the loss is {best[0]:.2f} at positions {best[1][0]} to {best[1][1]} and {mean:.2f} at {place[0]} to"
                f" {place[1]}",
                "train on more texts of this length, or look at what scales positions there (PE510)",
                {"best loss": best[0], "loss": mean},
                severity="warning",
            )
            return
        best = (mean, place) if best is None or mean < best[0] else best
