"""PE206: parts of a table do not vary: zero everywhere, constant everywhere, dead rows, dead dimensions."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.looked_up import first_row
from gnomon.doctor.evidence.tables import Table, position_tables
from gnomon.report.document import Finding, Measured

FLAT = 1e-6  # spread of a column relative to the size of the table


@check("PE206", "constant-table", severity="error", needs=(position_tables,))
def constant_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A position table is all zero or constant, or has rows of zeros where positions are used.

    Why: a table that does not vary tells the model nothing about order. It comes from a zero initialisation that never
    trained, from an initialiser that ran after the table was filled, or from a padding index given to a position table,
    which keeps one row at zero. A flat dimension is lost capacity; many of them show as a flat area in the heat map.

    Fix: fill a fixed table after the generic initialisation; initialise a learned one with std 0.02 and train it; do
    not give `padding_idx` to a position table.

    Sources: transformers issues 29807 (DistilBERT's sinusoids overwritten by the initialiser) and 10200 (a zero row in
    BART's table after export); the heat-map test of the usual debugging advice, as numbers.
    """
    judged = False
    stored = position_tables(subject)
    for found in stored:
        if _is_spare(found, stored):
            continue
        table = replace(found, reserved=max(found.reserved, first_row(subject, found.name) or 0))
        if found.grid is not None:  # rows of zeros around the patches are those of class tokens: PE224's matter
            kept = slice(found.grid.before, len(found.values) - found.grid.after)
            table = replace(found, values=found.values[kept], reserved=0)
        rows = table.used()
        if not len(rows) or not np.isfinite(rows).all():
            continue  # PE204 and PE202 speak of these
        judged = True
        size = float(np.linalg.norm(rows)) / rows.size**0.5
        flat = np.ptp(rows, axis=0) <= FLAT * max(size, 1e-30)
        if not flat.all():  # a cosine so slow that it stays at its peak is no lost column
            flat &= np.abs(rows[0]) < np.abs(rows).max() * (1 - FLAT)
        zero = np.flatnonzero(~rows.any(axis=1))
        yield Measured(
            f"flat dimensions of {table.name}", int(flat.sum()), 0, f"of {flat.size}; each row should differ"
        )
        yield Measured(f"zero rows of {table.name}", len(zero), 0, "in the rows that positions use")
        yield from _judge(table, flat, zero, starts=table.info.trainable and not subject.trained)
    if not judged:
        raise MissingEvidence("no table whose numbers are all finite")


def _is_spare(table: Table, stored: tuple[Table, ...]) -> bool:
    """Whether zeros stand beside the table that is in use, as room for its quantised numbers."""
    beside = (t for t in stored if t.name.rpartition(".")[0] == table.name.rpartition(".")[0])
    in_use = any(t.values.shape == table.values.shape and t.values.any() for t in beside)
    return in_use and not table.info.trainable and not table.values.any()


def _judge(
    table: Table,
    flat: np.ndarray,  # type: ignore[type-arg]
    zero: np.ndarray,  # type: ignore[type-arg]
    *,
    starts: bool,
) -> Iterator[Finding]:
    """`starts`: the table is a parameter of a model that was not trained; many start at zero."""
    rows = table.used()
    if flat.all():
        what = "zero" if not rows.any() else "the same in every row"
        yield Finding(
            table.name,
            f"the table is {what}: every position looks alike",
            "fill the table (after the generic weight initialisation) or initialise it with std 0.02 and train it",
            {"rows": len(rows), "flat dimensions": int(flat.sum())},
            severity="note" if starts and not rows.any() else None,
        )
        return
    if flat.any() and table.sinusoid is None:  # a slow sinusoid looks flat over few rows
        yield Finding(
            table.name,
            f"{int(flat.sum())} of {flat.size} dimensions are the same in every row, first dimension {flat.argmax()}",
            "check how these columns are filled; a slow sinusoid still moves, a flat column says nothing",
            {"flat dimensions": int(flat.sum())},
            severity="warning",
        )
    if len(zero):
        yield Finding(
            table.name,
            f"{len(zero)} rows that positions use are all zero, first row {table.reserved + zero[0]}",
            _filled(table, zero),
            {"zero rows": len(zero)},
        )


def _filled(table: Table, zero: np.ndarray) -> str:  # type: ignore[type-arg]
    """What to do about rows of zeros: no training fills those of a fixed table, and sines alone are zero at 0."""
    if not table.info.trainable and table.sinusoid is None and list(zero) == [0]:
        return "fill every second column with the cosine: sines alone are all zero at position 0, and cos(0) is 1"
    return "remove padding_idx from the position table, or state the reserved rows as an offset"
