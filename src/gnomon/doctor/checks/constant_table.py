"""PE206: parts of a table do not vary: zero everywhere, constant everywhere, dead rows, dead dimensions."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
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
    for table in position_tables(subject):
        rows = table.used()
        if not len(rows) or not np.isfinite(rows).all():
            continue  # PE204 and PE202 speak of these
        judged = True
        size = float(np.sqrt(np.mean(rows**2)))
        flat = np.ptp(rows, axis=0) <= FLAT * max(size, 1e-30)
        zero = np.flatnonzero(~rows.any(axis=1))
        yield Measured(
            f"flat dimensions of {table.name}", int(flat.sum()), 0, f"of {flat.size}; each row should differ"
        )
        yield Measured(f"zero rows of {table.name}", len(zero), 0, "in the rows that positions use")
        yield from _judge(table, flat, zero)
    if not judged:
        raise MissingEvidence("no table whose numbers are all finite")


def _judge(table: Table, flat: np.ndarray, zero: np.ndarray) -> Iterator[Finding]:  # type: ignore[type-arg]
    rows = table.used()
    if flat.all():
        what = "zero" if not rows.any() else "the same in every row"
        yield Finding(
            table.name,
            f"the table is {what}: every position looks alike",
            "fill the table (after the generic weight initialisation) or initialise it with std 0.02 and train it",
            {"rows": len(rows), "flat dimensions": int(flat.sum())},
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
            "remove padding_idx from the position table, or state the reserved rows as an offset",
            {"zero rows": len(zero)},
        )
