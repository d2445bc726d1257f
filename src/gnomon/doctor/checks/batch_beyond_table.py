"""PE511: a training batch asks for rows of a position table that are not there."""

import re
from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.visits import Refused, RowTable, row_tables, visits
from gnomon.report.document import Finding, Measured

DECODER = re.compile(r"labels|decoder|tgt|target")


@check("PE511", "batch-beyond-table", severity="error", needs=(visits,))
def batch_beyond_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A batch reads a row that a table of positions does not have.

    Why: on a CPU this is an index error; on a GPU a device assert that comes late and names no line. Texts longer than
    the table, rows reserved for padding (RoBERTa's positions start at the padding id + 1), labels longer than the
    decoder's table, and bounding boxes that were not scaled all end there.

    Fix: cut the inputs to the usable rows, scale box coordinates to the table (LayoutLM: 0 to 1000), or build the table
    with longest input + reserved rows.

    Sources: transformers issues 9116, 14243, 33196; unilm issue 771; bentrevett/pytorch-seq2seq issue 89.
    """
    found = visits(subject)
    for visited in found.visited:
        last = visited.table.rows - 1
        yield Measured(f"greatest row read of {visited.table.name}", visited.last, last, "last row")
    told: set[str] = set()
    for refused in found.refused:
        finding = _looked_up(refused, refused.table) if refused.table else _too_long(subject, refused)
        if finding is None:
            raise MissingEvidence(f"the forward fails on batch {refused.batch}: {refused.said}")
        if finding.where not in told:
            told.add(finding.where)
            yield finding


def _looked_up(refused: Refused, table: RowTable) -> Finding:
    row, rows, reserved = refused.row, table.rows, table.reserved
    if table.kind == "boxes":
        fix = f"scale the coordinates to 0..{min(1000, rows - 1)} before they are looked up"
    elif row is not None and row < 0:
        fix = "pass ids from 0 up: gnomon.positions.from_mask gives those of real tokens"
    else:
        fix = f"cut inputs to {rows - reserved} tokens, or give the table {(row or 0) + 1} rows"
        fix += f" ({reserved} rows come before position 0)" if reserved else ""
    return Finding(
        table.name,
        f"batch {refused.batch} reads row {row} of a table of {rows} rows",
        fix,
        {"row": row, "rows": rows, "reserved": reserved, "batch": refused.batch},
    )


def _too_long(subject: Subject, refused: Refused) -> Finding | None:
    """The forward failed before any lookup: an argument longer than the table of its side tells why."""
    for table in row_tables(subject):
        usable = table.rows - table.reserved
        for name, shape in refused.shapes.items():
            same_side = bool(DECODER.search(name)) == ("decoder" in table.name) or "coder" not in table.name
            if len(shape) == 2 and shape[1] > usable and same_side:
                return Finding(
                    table.name,
                    f"{name} of batch {refused.batch} has {shape[1]} tokens, the table serves {usable}: {refused.said}",
                    f"cut {name} to {usable} tokens, or give the table {shape[1] + table.reserved} rows",
                    {"tokens": shape[1], "usable": usable, "batch": refused.batch},
                )
    return None
