"""PE203: a fixed table or a row of frequencies against a float64 reference built from the config."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float64

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import claims_or_none, expected_frequencies
from gnomon.doctor.evidence.randomness import FIXED_NAME, called_fixed, is_noise, neighbours
from gnomon.doctor.evidence.running import running_tables
from gnomon.doctor.evidence.sinusoid import Sinusoid, fit_base
from gnomon.doctor.evidence.sinusoid_faults import angle_error, departures, largest_difference
from gnomon.doctor.evidence.tables import Table
from gnomon.doctor.thresholds import HALF_TABLE, TABLE, Threshold
from gnomon.report.document import Finding, Measured

Frequencies = Float64[np.ndarray, " pairs"]
ANGLE = Threshold(0.05, "frequencies read off a bfloat16 table of angles are good to 0.003 rad at its last row")
FREQUENCY = Threshold(1e-4, "float32 holds a frequency to 1e-7; bfloat16 only to 4e-3, which is 16 radians at 4,096")


@check("PE203", "table-against-formula", severity="error", needs=(running_tables,))
def table_against_formula(subject: Subject) -> Iterator[Finding | Measured]:
    """A sinusoid table, or stored rotary frequencies, differ from the formula the config states.

    Why: fixed tables are computed, so there is exactly one right answer. A wrong base, a flipped sign, a shift by one
    or rows overwritten by an initialiser change no shape and raise no error. Two copies that agree prove nothing;
    only the formula does.

    Fix: recompute the table in float64 from int64 positions with the config's base, after all weight initialisation,
    and keep it out of the optimizer and of the state dict.

    Sources: Vaswani et al. 2017, section 3.5; Su et al. 2021, arXiv:2104.09864; transformers issues 29807, 29904, 34234
    (tables overwritten or never filled), DeepSpeed issue 4442 (base 10,000 in a kernel, 1e6 in the model).
    """
    judged = False
    for table in running_tables(subject):
        if not np.isfinite(table.values).all():
            continue  # PE202 speaks of these
        if table.kind == "frequencies":
            judged = True
            yield from _frequencies(table, subject)
        elif table.kind == "angles":
            if table.sinusoid is not None:
                judged = True
                yield from _frequencies(table, subject)
        elif table.sinusoid is not None and not table.transposed:
            judged = True
            yield from _sinusoid(table)
        elif table.claim is not None and table.claim.kind == "sinusoidal" and not table.transposed:
            judged = True
            yield Finding(
                table.name,
                "the config claims a sinusoid table, but these numbers are not sinusoids",
                "refill the table from the formula after initialisation; something has overwritten it",
                {"rows": len(table.values)},
            )
        elif table.kind == "learned" and table.claim is None and called_fixed(table.info) and is_noise(table.used()):
            judged = True
            yield _overwritten(table)
    if not judged:
        raise MissingEvidence("no fixed table among the tensors (learned tables have no formula)")


def _overwritten(table: Table) -> Finding:
    """A model that nothing was claimed of, but whose names or whose use of a buffer say that the table is fixed."""
    name = FIXED_NAME.search(table.info.owner) or FIXED_NAME.search(table.name)
    said = f"its name ({name.group(0)}) says sinusoids" if name else "it is a buffer, which nothing trains"
    return Finding(
        table.name,
        f"{said}, but the rows are unrelated to their neighbours, as random numbers are",
        "refill the table from the formula after all weight initialisation (a generic initialiser, or a loader that "
        "draws what its file lacks, has overwritten it); keep it as a buffer with persistent=False",
        {"rows": len(table.values), "median cosine of neighbours": neighbours(table.used())},
        severity="warning",
    )


def _sinusoid(table: Table) -> Iterator[Finding | Measured]:
    fit = table.sinusoid
    if fit is None:
        return
    base = TABLE if table.info.dtype in ("float32", "float64", "F32", "F64") else HALF_TABLE
    limit = max(base.value, angle_error(len(table.values)))
    largest, rows = largest_difference(table.values, fit, limit, table.reserved)
    yield Measured(f"largest difference of {table.name} to the formula", largest, limit, base.why)
    of_offsets = table.claim is None and _is_of_offsets(fit, len(table.values))
    for departure in departures(fit, table.claim, table.reserved):
        if of_offsets and {"sine sign", "shift"} & departure.measured.keys():
            continue
        yield Finding(table.name, departure.message, departure.fix, departure.measured, departure.severity)
    if len(rows):
        yield Finding(
            table.name,
            f"{len(rows)} of {len(table.values)} rows differ from the formula, first row {int(rows[0])}",
            "refill the table from the formula after initialisation; something has overwritten these rows",
            {"rows": len(rows), "largest difference": largest},
        )


def _is_of_offsets(fit: Sinusoid, rows: int) -> bool:
    """Whether rows stand for offsets of a query to a key, from n - 1 to 1 - n or the other way, or from n - 1 to 0.

    Transformer-XL and the Conformers' relative attention keep such tables.
    """
    return min(abs(fit.shift + rows / 2), abs(fit.shift + rows - 1)) <= 1.0


def _frequencies(table: Table, subject: Subject) -> Iterator[Finding | Measured]:
    stored = table.values[0] if table.sinusoid is None else table.sinusoid.frequencies
    expected = [expected_frequencies(claim) for claim in claims_or_none(subject, "rotary")]
    fitting = [e for e in expected if e.shape == stored.shape]
    fit = fit_base(stored)
    if not expected:
        yield Measured(f"base of {table.name}", fit[0] if fit else "none", None, "no config to compare with")
        return
    if not fitting:
        yield Finding(
            table.name,
            f"the table has {len(stored)} frequencies but the config rotates {len(expected[0])} pairs",
            "build the frequencies over the rotated width that the config states",
            {"pairs": len(stored), "expected": len(expected[0])},
        )
        return
    unit, limit = ("rad at the last row", ANGLE) if table.sinusoid else ("relative", FREQUENCY)
    error = min(_error(stored, e, len(table.values) if table.sinusoid else None) for e in fitting)
    yield Measured(f"largest error of {table.name} ({unit})", error, limit.value, limit.why)
    if not error <= limit.value:
        base = f"; they follow base {fit[0]:.6g}" if fit and fit[1] < 0.01 else ""
        yield Finding(
            table.name,
            f"frequencies differ from the config's by up to {error:.2g} ({unit}){base}",
            "recompute the frequencies from the config in float32 or better after loading and casting",
            {"error": error, "unit": unit},
        )


def _error(stored: Frequencies, expected: Frequencies, rows: int | None) -> float:
    """Relative to each frequency; where they are read off a table, what the angles of its last row are off."""
    if rows is not None:
        return float(np.abs(stored - expected).max()) * rows
    return float((np.abs(stored - expected) / np.where(expected == 0, 1, expected)).max())
