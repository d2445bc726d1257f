"""Which rows of a table a forward takes: those before the first are kept for something else."""

from gnomon.adapters.subject import Subject
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.trace import trace


def first_row(subject: Subject, table: str) -> int | None:
    """The row that the first position takes; None where no model runs, or it does not look the table up.

    Not the least row: a model that pads its input to a whole window takes the padding row at the end (Longformer).
    """
    seen = attempt(trace, subject) if subject.has("module") else None
    taken = [x.rows for x in (seen.lookups if seen else ()) if x.table == table and x.rows.numel()]
    rows = [int(row[..., 0].min() if row.ndim else row) for row in taken]
    return min(rows, default=None)
