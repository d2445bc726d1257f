"""How a sinusoid that was measured departs from the one that was claimed, or from the published one: named causes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.claims import Claim
from gnomon.doctor.evidence.sinusoid import PUBLISHED_BASE, Sinusoid, sinusoid_table
from gnomon.report.document import Severity

BASE_AGREES = 5e-3  # relative; a base read off a float16 table is good to 1e-3


@dataclass(frozen=True)
class Departure:
    """One way in which the numbers differ, and what to do about it."""

    message: str
    fix: str
    severity: Severity
    measured: dict[str, Any]


def departures(fit: Sinusoid, claim: Claim | None, reserved: int = 0) -> Iterator[Departure]:
    """Base, sign, shift and layout against the claim, or the published base 10,000 when nothing is claimed."""
    options = claim.options if claim else {}
    base = float(options.get("base", PUBLISHED_BASE))
    if abs(fit.base - base) > BASE_AGREES * base:
        yield Departure(
            f"the frequencies follow base {fit.base:g}, not {base:g}" + ("" if claim else " as published"),
            f"compute them with base {base:g}, or state base {fit.base:g} in the config",
            "error" if claim else "warning",
            {"base": fit.base, "expected base": base},
        )
    if fit.sine_sign < 0:
        yield Departure(
            "the sine columns have the wrong sign: the table runs backwards",
            "use +sin(position * frequency); a minus sign (or conjugation) slipped in",
            "error",
            {"sine sign": -1},
        )
    if abs(fit.shift) > 0.01 and abs(fit.shift + reserved) > 0.01:
        yield Departure(
            f"row 0 holds position {fit.shift:g}: the table is off by {abs(fit.shift):g}",
            "start counting positions at 0",
            "error",
            {"shift": fit.shift},
        )
    layout = options.get("layout")
    if layout is not None and layout != fit.layout:
        yield Departure(
            f"sines and cosines stand in {fit.layout} order, but {layout} is claimed",
            f"arrange the columns as {layout}; weights trained with one order cannot read the other",
            "error",
            {"layout": fit.layout, "claimed layout": layout},
        )


def largest_difference(
    values: Float64[np.ndarray, "rows dims"], fit: Sinusoid, tolerance: float
) -> tuple[float, Float64[np.ndarray, " rows"]]:
    """The largest difference to the described table, relative to its scale, and the rows that differ by more."""
    difference = np.abs(values - sinusoid_table(fit, *values.shape)).max(axis=1) / max(fit.scale, 1e-30)
    return float(difference.max()), np.flatnonzero(difference > tolerance).astype(np.float64)
