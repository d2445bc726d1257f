"""Curves of what a study measured: one figure for each group and measure with an axis, one line for each variant."""

from collections.abc import Iterator, Sequence

import numpy as np

from gnomon.lab.evidence import Evidence
from gnomon.plots.figure import Curve, Figure, Lines
from gnomon.report.lab.results import MeasureInfo
from gnomon.report.lab.spread import spread

MOST_TICKS = 12
#: A span of the axis from which on it is drawn in logarithms: lengths usually double.
WIDE = 4.0
#: The same for values of which less is better: a loss or a perplexity that explodes would flatten the others.
EXPLODED = 20.0


def figures(evidence: Evidence, measures: Sequence[MeasureInfo]) -> tuple[Figure, ...]:
    """In the order of groups and measures. A line is the mean over seeds; its band reaches from lowest to highest.

    Places that a variant could not be measured at have no point. A measure that is one number, or that was taken at one
    place alone, is in the tables only.

    >>> from gnomon.report.lab.results import Result, Run, Series
    >>> series = Series((16, 64), (1.0, 0.5))
    >>> results = [Result(Run("train", "copy", "alibi", s), {"alibi": {"match": series}}, 1.0) for s in (0, 1)]
    >>> [figure] = figures(Evidence(results), [MeasureInfo("match", "exact match", "share", "length")])
    >>> figure.title, figure.curves[0].y.tolist(), figure.log_x
    ('exact match: copy', [1.0, 0.5], True)
    """
    return tuple(
        _lines(evidence, group, info)
        for group in evidence.groups()
        for info in measures
        if len(evidence.places(group, info.name)) > 1
    )


def _lines(evidence: Evidence, group: str, info: MeasureInfo) -> Lines:
    curves = tuple(_curves(evidence, group, info.name))
    places = [place for place in evidence.places(group, info.name) if place is not None]
    low, high = min(places), max(places)
    seeds = {seed for v in evidence.variants(group) for seed in evidence.series(group, v, info.name)}
    unit = f" ({info.unit})" if info.unit else ""
    return Lines(
        f"{info.title}: {group}",
        curves,
        x_label=info.axis or "place",
        y_label=f"{info.title}{unit}",
        log_x=low > 0 and high / low >= WIDE,
        log_y=info.better == "lower" and _exploded(curves),
        note=_note(len(seeds), info),
        x_ticks=tuple(places) if len(places) <= MOST_TICKS else (),
    )


def _curves(evidence: Evidence, group: str, measure: str) -> Iterator[Curve]:
    for variant in evidence.variants(group):
        numbers = {place: evidence.by_seed(group, variant, measure, place) for place in evidence.places(group, measure)}
        points = [(place, spread(own)) for place, own in numbers.items() if own and place is not None]
        if points:
            x, y, low, high = zip(*((place, own.mean, own.low, own.high) for place, own in points), strict=True)
            yield Curve(variant, *(np.array(values, np.float64) for values in (x, y, low, high)))


def _exploded(curves: Sequence[Curve]) -> bool:
    values = np.concatenate([np.zeros(0), *(curve.y for curve in curves)])
    return values.size > 0 and values.min() > 0 and values.max() / values.min() >= EXPLODED


def _note(seeds: int, info: MeasureInfo) -> str:
    better = {"higher": " Higher is better.", "lower": " Lower is better.", None: ""}[info.better]
    if seeds == 1:
        return f"One seed.{better}"
    return f"Lines are means of {seeds} seeds; bands reach from the lowest seed to the highest.{better}"
