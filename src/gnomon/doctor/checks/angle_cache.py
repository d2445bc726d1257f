"""PE221: the cosines and sines that a model keeps ready are not those of its rotation."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.angle_caches import AngleCache, angle_caches
from gnomon.doctor.evidence.expected import angles_follow_positions, claims_or_none, expected_frequencies, wrapped
from gnomon.doctor.evidence.turning import measure_turning
from gnomon.doctor.thresholds import Threshold
from gnomon.report.document import Finding, Measured

CIRCLE = Threshold(0.02, "relative; tables in bfloat16 are good to 0.006, whatever factor scales them")
ANGLE = Threshold(0.05, "radians; tables in bfloat16 are good to 0.006, float32 angles to 1e-3 at 16,384")
NEAREST = 0.05  # radians of the first row; a table that starts at position 1 is off by 1 in its fastest pair


@check("PE221", "angle-cache", severity="error", needs=(angle_caches,))
def angle_cache(subject: Subject) -> Iterator[Finding | Measured]:
    """A cache of cosines and sines is cut to whole numbers, has equal rows, starts late, or turns by other frequencies.

    Why: a cache is built once, in whatever dtype its positions happened to have, and used for ever. Built in the dtype
    of the token ids it holds 1 in row 0 and 0 elsewhere; built from positions in half precision neighbours share a row;
    built under another config it turns by other frequencies. It is read before every score, and nothing checks it.

    Fix: build it from int64 positions and float32 frequencies of the config, cast only the result, and keep it out of
    the state dict.

    Sources: Lightning-AI/litgpt#227 (a cache in the dtype of the ids), transformers issues 25681 and 29285 (tables that
    depend on the order of cast and build); Su et al. 2021, arXiv:2104.09864.
    """
    for cache in angle_caches(subject):
        broken = list(_broken(cache))
        yield Measured(f"dtype of {cache.name}", cache.dtype, None, f"{cache.values.shape[0]} rows")
        if broken:
            yield from broken
        elif angles_follow_positions(subject, len(cache.values)):
            yield from _judge(cache, subject)


def _broken(cache: AngleCache) -> Iterator[Finding]:
    """What no rotation can have."""
    rows, radius = len(cache.values), np.abs(cache.values)
    if cache.counts:
        yield Finding(
            cache.name,
            f"the cache is {cache.dtype}: cosines and sines are cut to whole numbers, and {_distinct(cache)} of {rows} "
            "rows are distinct",
            "build the cache in float32: its dtype is not that of the token ids",
            {"dtype": cache.dtype, "distinct": _distinct(cache)},
        )
        return
    if not np.isfinite(cache.values).all():
        yield Finding(cache.name, "the cache holds NaN or infinity", "build it again after loading", {})
        return
    middle = float(np.median(radius))
    off = int((np.abs(radius - middle) > CIRCLE.value * middle).any(axis=1).sum())
    if off or middle == 0:
        yield Finding(
            cache.name,
            f"{off or rows} of {rows} rows are no cosines and sines of one angle (cos² + sin² varies)",
            "build the cache again from the formula; something has overwritten it, or it was never filled",
            {"rows": off or rows},
        )
    elif _distinct(cache) < rows and not _is_axis(cache):
        yield Finding(
            cache.name,
            f"only {_distinct(cache)} of {rows} rows are distinct: positions were rounded, or the table was repeated",
            "build the cache from int64 positions and float32 angles, and cast only the result",
            {"distinct": _distinct(cache), "rows": rows},
        )


def _judge(cache: AngleCache, subject: Subject) -> Iterator[Finding | Measured]:
    turning = measure_turning(cache.values)
    if turning is None:
        return  # angles that do not grow evenly: positions of a grid, or a rule of the model's own
    rows, frequencies = len(cache.values), np.abs(turning.angles)
    first = float(np.abs(wrapped(np.angle(cache.values[0]))).max())
    yield Measured(f"angle of the first row of {cache.name}", first, NEAREST, "position 0 is not turned")
    if first > NEAREST:
        yield Finding(
            cache.name,
            f"row 0 is turned by {first:.3g} radians: the cache starts at another position",
            "count positions from 0",
            {"angle": first},
            severity="warning",
        )
    claims = claims_or_none(subject, "rotary")
    fitting = [e for e in map(expected_frequencies, claims) if e.shape == frequencies.shape]
    if fitting:
        error = min(float(np.abs(frequencies - e).max()) for e in fitting) * rows
        yield Measured(f"largest error of {cache.name} at its last row", error, ANGLE.value, ANGLE.why)
        if error > max(ANGLE.value, ANGLE.value * rows / 4096):
            yield Finding(
                cache.name,
                f"the cache turns by other frequencies than the config's: {error:.2g} radians off at its last row",
                "build the cache again from the config's base and scaling",
                {"error": error},
            )
    yield from _short(cache, [c.options.get("stated_length") for c in claims])


def _short(cache: AngleCache, stated: list[object]) -> Iterator[Finding]:
    lengths = [length for length in stated if isinstance(length, int)]
    if lengths and len(cache.values) < min(lengths):
        yield Finding(
            cache.name,
            f"the cache has {len(cache.values)} rows, but {min(lengths)} positions are stated",
            f"build the cache for {min(lengths)} positions, or let it grow with the input",
            {"rows": len(cache.values), "stated": min(lengths)},
            severity="warning",
        )


def _is_axis(cache: AngleCache) -> bool:
    """Whether rows repeat evenly, as one coordinate of a grid does: each so many times in turn, or all over again."""
    new = np.flatnonzero((cache.values[1:] != cache.values[:-1]).any(axis=1)) + 1
    runs = np.diff([0, *new, len(cache.values)])
    start = np.flatnonzero((cache.values[1:] == cache.values[0]).all(axis=1))
    return (len(np.unique(runs)) == 1 and runs[0] > 1) or (len(start) > 0 and len(cache.values) % (start[0] + 1) == 0)


def _distinct(cache: AngleCache) -> int:
    return len({hash((row + 0.0).tobytes()) for row in cache.values})
