"""How a sinusoid that was measured departs from the one that was claimed, or from the published one: named causes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float64, Int64

from gnomon.adapters.claims import Claim
from gnomon.doctor.evidence.sinusoid import PUBLISHED_BASE, Sinusoid, sinusoid_table
from gnomon.report.document import Severity

FORMULAS = {"paper": "base^(-2i/d)", "endpoint": "base^(-i/(d/2-1))"}
BASE_AGREES = 5e-3  # relative; a base read off a float16 table is good to 1e-3


@dataclass(frozen=True)
class Departure:
    """One way in which the numbers differ, and what to do about it."""

    message: str
    fix: str
    severity: Severity
    measured: dict[str, Any]


def departures(fit: Sinusoid, claim: Claim | None, reserved: int = 0, *, start: int = 0) -> Iterator[Departure]:
    """Base, sign, shift and layout against the claim, or the published base 10,000 when nothing is claimed.

    `start`: the position that row 0 is meant to hold; with `reserved` rows before position 0, it may hold -reserved.
    """
    options = claim.options if claim else {}
    yield from _frequencies(fit, options)
    if fit.sine_sign < 0:
        yield Departure(
            "the sine columns have the wrong sign: the table runs backwards",
            "use +sin(position * frequency); a minus sign (or conjugation) slipped in",
            "error",
            {"sine sign": -1},
        )
    if all(abs(fit.shift - expected) > 0.01 for expected in {start, start - reserved}):
        yield Departure(
            f"row 0 holds position {fit.shift:g}: the table is off by {abs(fit.shift - start):g}",
            f"start counting positions at {start}",
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


def _frequencies(fit: Sinusoid, options: Mapping[str, Any]) -> Iterator[Departure]:
    """The base, read with the exponent that is claimed: the same numbers have another base in the other exponent."""
    base = float(options.get("base", PUBLISHED_BASE))
    claimed = str(options.get("exponent", fit.exponent))
    last = len(fit.frequencies) - 1
    powers = {"paper": last + 1, "endpoint": last}
    found = fit.base ** (powers[claimed] / powers[fit.exponent]) if claimed != fit.exponent else fit.base
    if abs(found - base) <= BASE_AGREES * base:
        return
    claims = bool(set(options) & {"base", "exponent"})
    if claimed != fit.exponent and abs(fit.base - base) <= BASE_AGREES * base:
        yield Departure(
            f"the exponents are those of {FORMULAS[fit.exponent]}, but {FORMULAS[claimed]} is claimed",
            f"compute the frequencies as {FORMULAS[claimed]}",
            "error",
            {"exponent": fit.exponent, "claimed exponent": claimed},
        )
        return
    yield Departure(
        f"the frequencies follow base {found:g}, not {base:g}" + ("" if claims else " as published"),
        f"compute them with base {base:g}, or state base {found:g} in the config",
        "error" if claims else "warning",
        {"base": found, "expected base": base},
    )


def largest_difference(
    values: Float64[np.ndarray, "rows dims"], fit: Sinusoid, tolerance: float, reserved: int = 0
) -> tuple[float, Int64[np.ndarray, " rows"]]:
    """The largest difference to the described table, relative to its scale, and the rows that differ by more.

    The first `reserved` rows serve no position and are not looked at.
    """
    difference = np.abs(values - sinusoid_table(fit, *values.shape)).max(axis=1) / max(fit.scale, 1e-30)
    difference[:reserved] = 0.0
    return float(difference.max()), np.flatnonzero(difference > tolerance)


def angle_error(rows: int) -> float:
    """What float32 does to the angles of a healthy table of this length: half a unit in the last place, and some.

    Measured on three ways to write the formula, 1,500 to 20,000 rows: 6e-8 to 9e-8 of the last position, in radians.
    """
    return 2e-7 * rows
