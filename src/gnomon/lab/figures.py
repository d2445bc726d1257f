"""Curves of what a study measured: one figure for each group and measure with an axis, one line for each variant."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

import numpy as np

from gnomon.plots.figure import Curve, Figure, Lines
from gnomon.report.lab.evidence import Evidence
from gnomon.report.lab.results import MeasureInfo
from gnomon.report.lab.spread import spread

#: Labels of an axis that are nearer to each other than this share of it would overlap.
NEAREST = 0.06
#: A span of the axis from which on it may be drawn in logarithms.
WIDE = 4.0
#: The same for values of which less is better: a loss or a perplexity that explodes would flatten the others.
EXPLODED = 20.0


def figures(evidence: Evidence, measures: Sequence[MeasureInfo]) -> tuple[Figure, ...]:
    """In the order of groups and measures. A line is the mean over seeds; its band reaches from lowest to highest.

    A variant looks the same in every figure of its group. Places that it could not be measured at have no point. A
    measure that is one number, or that was taken at one place alone, is in the tables only.

    >>> from gnomon.report.lab.results import Result, Run, Series
    >>> series = Series((16, 32, 64), (1.0, 0.75, 0.5))
    >>> results = [Result(Run("train", "copy", "alibi", s), {"alibi": {"match": series}}, 1.0) for s in (0, 1)]
    >>> [figure] = figures(Evidence(results), [MeasureInfo("match", "exact match", "share", "length")])
    >>> figure.title, figure.curves[0].y.tolist(), figure.log_x
    ('exact match: copy', [1.0, 0.75, 0.5], True)
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
    log_x = doubling(places)
    seeds = {seed for v in evidence.variants(group) for seed in evidence.series(group, v, info.name)}
    unit = f" ({info.unit})" if info.unit else ""
    return Lines(
        f"{info.title}: {group}",
        curves,
        x_label=info.axis or "place",
        y_label=f"{info.title}{unit}",
        log_x=log_x,
        log_y=info.better == "lower" and _exploded(curves),
        note=_note(len(seeds), info),
        x_ticks=_ticks(places, log_x=log_x),
    )


def _curves(evidence: Evidence, group: str, measure: str) -> Iterator[Curve]:
    for style, variant in enumerate(evidence.variants(group)):
        numbers = {place: evidence.by_seed(group, variant, measure, place) for place in evidence.places(group, measure)}
        points = [(place, spread(own)) for place, own in numbers.items() if own and place is not None]
        if points:
            rows = np.array([(place, own.mean, own.low, own.high) for place, own in points], np.float64)
            x, y, low, high = rows.T
            yield Curve(variant, x, y, low, high, style)


def doubling(places: Sequence[float]) -> bool:
    """Whether places in rising order lie closer at their lower end, as lengths that double do.

    >>> doubling([64, 80, 128, 256, 512]), doubling([50, 100, 150, 200, 250])
    (True, False)
    """
    low, high = places[0], places[-1]
    return low > 0 and high / low >= WIDE and median(places) < (low + high + 2 * (low * high) ** 0.5) / 4


def _ticks(places: Sequence[float], *, log_x: bool) -> tuple[float, ...]:
    """Every place, where their labels have room beside each other."""
    at = [math.log(place) if log_x else place for place in places]
    room = NEAREST * (at[-1] - at[0])
    return tuple(places) if all(b - a >= room for a, b in pairwise(at)) else ()


def _exploded(curves: Sequence[Curve]) -> bool:
    values = np.concatenate([np.zeros(0), *(curve.y for curve in curves)])
    return values.size > 0 and values.min() > 0 and values.max() / values.min() >= EXPLODED


def _note(seeds: int, info: MeasureInfo) -> str:
    better = {"higher": " Higher is better.", "lower": " Lower is better.", None: ""}[info.better]
    if seeds == 1:
        return f"One seed.{better}"
    return f"Lines are means of {seeds} seeds; bands reach from the lowest seed to the highest.{better}"
