"""PE202: a table of positions holds NaN or infinity."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.running import running_tables
from gnomon.report.document import Finding, Measured


@check("PE202", "non-finite-table", severity="error", needs=(running_tables,))
def non_finite_table(subject: Subject) -> Iterator[Finding | Measured]:
    """A position table or a frequency holds NaN or infinity.

    Why: one such number reaches every token that attends to that position. It comes from memory that was never filled
    (meta device and `to_empty`), from overflow in half precision, or from a diverged training run.

    Fix: rebuild a fixed table from its formula after loading; for a learned table go back to a checkpoint before the
    divergence. `torch.isfinite(table).all()` after each load costs nothing.

    Sources: transformers issue 45902 (rotary frequencies uninitialised after materialising), Swin in
    pytorch-image-models issue 2661 (an index table created empty).
    """
    for table in running_tables(subject):
        bad = ~np.isfinite(table.values)
        yield Measured(f"non-finite numbers in {table.name}", int(bad.sum()), 0, "every number must be finite")
        if bad.any():
            rows = np.flatnonzero(bad.any(axis=1))
            yield Finding(
                table.name,
                f"{int(bad.sum())} of {bad.size} numbers are NaN or infinite, first in row {rows[0]}",
                "rebuild the table after loading, or restore it from a checkpoint before training diverged",
                {"non-finite": int(bad.sum()), "rows": len(rows)},
            )
