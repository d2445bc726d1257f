"""PE205: a sinusoid table whose axes are swapped."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.sinusoid import fit_sinusoid
from gnomon.doctor.evidence.tables import position_tables
from gnomon.doctor.evidence.used import used_table
from gnomon.report.document import Finding, Measured


@check("PE205", "transposed-table", severity="error", needs=(position_tables,))
def transposed_table(subject: Subject) -> Iterator[Finding | Measured]:
    """The sinusoids of a table run along its dimensions instead of along its positions.

    Why: with position and dimension swapped in the formula, the heat map shows stripes the other way: near positions
    are almost the same, and the first dimensions do not tell positions apart at all. Shapes are right, so nothing
    fails.

    Fix: swap the two index arrays: position times frequency(dimension), position along the rows.

    Sources: Vaswani et al. 2017, section 3.5; the swapped `pos` and `i` of the usual debugging advice.
    """
    judged = False
    for name, values, transposed in _candidates(subject):
        judged = True
        yield Measured(f"sinusoids of {name} run along", "dimensions" if transposed else "positions", "positions")
        if transposed:
            yield Finding(
                name,
                f"the {values[0]} x {values[1]} table is a sinusoid table with its axes swapped",
                "compute sin(position * frequency) with positions along the rows and frequencies along the columns",
                {"rows": values[0], "dims": values[1]},
            )
    if not judged:
        raise MissingEvidence("no sinusoid table")


def _candidates(subject: Subject) -> Iterator[tuple[str, tuple[int, int], bool]]:
    """Name, shape, and whether it is swapped: stored tables, else the one the forward computes."""
    stored = [t for t in attempt(position_tables, subject) or () if t.sinusoid is not None]
    for table in stored:
        yield table.name, (table.values.shape[0], table.values.shape[1]), table.transposed
    if not stored and subject.has("module"):
        used = used_table(subject)
        rows, dims = used.values.shape
        if fit_sinusoid(used.values) is not None:
            yield used.where, (rows, dims), False
        elif fit_sinusoid(used.values.T) is not None:
            yield used.where, (rows, dims), True
