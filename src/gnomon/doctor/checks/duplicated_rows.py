"""PE207: two positions have the same vector."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured


@check("PE207", "duplicated-rows", severity="error", needs=(position_tables,))
def duplicated_rows(subject: Subject) -> Iterator[Finding | Measured]:
    """Some positions share one vector, bit for bit, so the model cannot tell them apart.

    Why: a position's vector is its fingerprint. Duplicates come from ids rounded in half precision (bfloat16 keeps
    integers exact only up to 256), from a table tiled to reach a longer context, and from swapped axes.

    Fix: compute angles from int64 ids in float32; extend a table by interpolation, not by repeating it.

    Sources: the rounding of integers in bfloat16 and float16 (8 and 11 significant bits); rotary-embedding-torch 0.9.1,
    which builds positions in the input's dtype (769 of 4,096 distinct in bfloat16).
    """
    judged = False
    for table in position_tables(subject):
        rows = table.used()
        if len(rows) < 2 or not np.isfinite(rows).all() or not np.ptp(rows, axis=0).any():
            continue  # PE202 and PE206 speak of these
        judged = True
        distinct = len({hash((row + 0.0).tobytes()) for row in rows})  # -0 is 0; np.unique would copy the table
        yield Measured(f"distinct rows of {table.name}", distinct, len(rows), "each position needs its own vector")
        if distinct < len(rows):
            yield Finding(
                table.name,
                f"only {distinct} of {len(rows)} positions are distinct",
                "compute the table from int64 positions in float32, and never tile it",
                {"distinct": distinct, "positions": len(rows)},
            )
    if not judged:
        raise MissingEvidence("no table that varies and is finite")
