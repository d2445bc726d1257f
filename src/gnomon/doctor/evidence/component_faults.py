"""What may be wrong with the numbers of a bare position module, by the kind of module."""

from collections.abc import Iterator

import numpy as np

from gnomon.doctor.evidence.component import LENGTH, Component
from gnomon.doctor.evidence.component_values import (
    added_rows,
    bias_values,
    each_pair_once,
    linear_part,
    longest,
    repeated,
    rotation_angles,
)
from gnomon.doctor.evidence.sinusoid import fit_base, fit_sinusoid
from gnomon.doctor.evidence.sinusoid_faults import departures
from gnomon.encodings.alibi import reference
from gnomon.report.document import Finding, Measured

MANY = 64  # places
EVEN = 1e-3  # radians; float32 angles of 64 positions are good to 1e-5
BY_DISTANCE = 1e-4  # of the largest bias
SLOPE = 1e-3  # relative
BASES = ("base", "theta", "rope_theta", "rotary_emb_base")
WHERE = "the module"


def added_faults(found: Component) -> Iterator[Finding | Measured]:
    """Vectors that are added: the axis, distinct rows, and sinusoids against the formula."""
    rows = added_rows(found, LENGTH)
    axes = {None: "none", 0: "0 (sequence-first)", 1: "1 (batch-first)"}
    is_flat = found.is_flat
    yield Measured("axis along which positions run", "the only one" if is_flat else axes[found.axis], None, "as called")
    if np.abs(rows - rows[:1]).max() <= 1e-6 * max(np.abs(rows).max(), 1e-30):
        size = float(np.abs(rows).max())
        what = "every position gets the same vector" if size else "nothing is added: content comes out as it went in"
        yield Finding(WHERE, what, "add row i of the table at place i of the sequence", {"size": size})
        return
    yield from _axis(found, is_flat=is_flat)
    length = longest(found, MANY)
    rows = added_rows(found, length)
    same = repeated(rows.round(12))
    if same is not None:
        yield Finding(WHERE, f"positions {same[0]} and {same[1]} get the same vector", "give each position its own row")
    fit = fit_sinusoid(rows)
    yield Measured(
        "sinusoids", "no" if fit is None else f"base {fit.base:g}, {fit.layout}", None, "read off the numbers"
    )
    for departure in departures(fit, None) if fit is not None else ():
        yield Finding(WHERE, departure.message, departure.fix, departure.measured, departure.severity)


def _axis(found: Component, *, is_flat: bool) -> Iterator[Finding]:
    stated = next((v for m in found.module.modules() if isinstance(v := getattr(m, "batch_first", None), bool)), None)
    if is_flat or stated is None or found.axis is None or stated == (found.axis == 1):
        return
    taken, right = ("0", "1") if stated else ("1", "0")
    yield Finding(
        WHERE,
        f"batch_first is {stated}, but positions run along dimension {taken}: every token of a row gets one vector",
        f"cut the table by the length of dimension {right}: pe[:, : x.size(1)] of a table (1, L, W)"
        if stated
        else "cut the table by the length of dimension 0: pe[: x.size(0)] of a table (L, 1, W)",
        {"axis": found.axis},
    )


def rotation_faults(found: Component) -> Iterator[Finding | Measured]:
    """Rotations: angles that grow evenly, from 0, by frequencies of the stated base."""
    angles, layout = rotation_angles(found, longest(found, MANY))
    frequencies, starts, uneven = linear_part(angles)
    yield Measured("largest departure from even steps, in radians", uneven, EVEN, "float32 angles give 1e-5")
    if not np.abs(frequencies).max() > 0:
        yield Finding(WHERE, "nothing turns: every position has the same angles", "angle = position * frequency", {})
        return
    if uneven > EVEN:
        yield Finding(
            WHERE,
            f"angles do not grow evenly with the position: they are off by up to {uneven:.2g} radians",
            "compute position * frequency in float32 or better, from integer positions",
            {"radians": uneven},
        )
    fastest = int(np.abs(frequencies).argmax())
    shift = float(starts[fastest] / frequencies[fastest])
    if abs(shift) > 0.01:
        yield Finding(WHERE, f"position 0 is turned as position {shift:.3g}", "start counting at 0", {"shift": shift})
    pairs = each_pair_once(np.abs(frequencies))
    yield from _base(found, pairs, layout)


def _base(found: Component, pairs: np.ndarray, layout: str) -> Iterator[Finding | Measured]:  # type: ignore[type-arg]
    fit = fit_base(pairs)
    base = fit[0] if fit and fit[1] < 0.01 else None
    yield Measured(
        "base of the frequencies", "not one base" if base is None else round(base, 2), None, layout or "angles"
    )
    stated = next((v for name in BASES if isinstance(v := getattr(found.module, name, None), int | float)), None)
    if base is not None and stated and abs(base / stated - 1) > 0.01:
        yield Finding(
            WHERE,
            f"the module states base {stated:g}, and its frequencies have base {base:.6g}",
            f"frequencies = {stated:g} ** (-arange(0, d, 2) / d)",
            {"base": base, "stated": float(stated)},
        )


def bias_faults(found: Component) -> Iterator[Finding | Measured]:
    """Biases: a function of the distance alone, that falls with it, with the published slopes where it is linear."""
    values = bias_values(found, longest(found, LENGTH))
    seen = np.where(values < -1e4, np.nan, values)
    last = seen[:, -1, ::-1]  # by distance back from the last query
    size = float(np.nanmax(np.abs(seen))) or 1.0
    uneven = max(
        float(np.nanmax(d) - np.nanmin(d))
        for head in _modulo_rows(seen)
        for d in _diagonals(head)
        if not np.isnan(d).all()
    )
    yield Measured(
        "how far one distance's biases differ", uneven / size, BY_DISTANCE, "a relative bias sees distance only"
    )
    if uneven > BY_DISTANCE * size:
        yield Finding(
            WHERE,
            f"equal distances get biases that differ by {uneven:.2g}",
            "index the bias by query position - key position",
            {"difference": uneven},
            severity="warning",
        )
        return
    slopes = last[:, 0] - last[:, 1]
    curve = np.abs(last - last[:, :1] + slopes[:, None] * np.arange(last.shape[1])).max()
    if curve > BY_DISTANCE * size or np.isnan(curve):
        return
    yield from _slopes(slopes)


def _modulo_rows(values: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    """Less each row's own diagonal: a softmax ignores what a whole row has in common."""
    diagonal = np.diagonal(values, axis1=1, axis2=2)
    result: np.ndarray = values - diagonal[..., None]  # type: ignore[type-arg]
    return result


def _diagonals(head: np.ndarray) -> Iterator[np.ndarray]:  # type: ignore[type-arg]
    return (np.diagonal(head, offset=k) for k in range(1 - len(head), len(head)))


def _slopes(slopes: np.ndarray) -> Iterator[Finding | Measured]:  # type: ignore[type-arg]
    slopes = slopes[slopes != 0] if slopes.any() else slopes  # some heads may be left without a bias on purpose
    published = np.array([-reference(h, 1, 0, len(slopes)) for h in range(len(slopes))])
    error = float(np.abs(slopes / published - 1).max())
    yield Measured("largest relative error of a slope", error, SLOPE, "against 2^(-8h/H), h = 1 ... H")
    if error <= SLOPE or not np.abs(slopes).max():
        return
    if (slopes < 0).all():
        message, fix = "the bias grows with distance: its sign is flipped", "subtract slope times distance"
    else:
        first = ", ".join(f"{s:.4g}" for s in slopes[:3])
        message = f"slopes {first}, ... are not the published ones (off by up to {error:.2g}, relative)"
        fix = f"use 2^(-8h/H), h = 1 ... H: {', '.join(f'{s:.4g}' for s in published[:3])}, ..."
    yield Finding(WHERE, message, fix, {"relative error": error}, severity=None if (slopes < 0).all() else "warning")
