"""PE703: the last rows of a learned table are reached by hardly any input."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.lengths import lengths_in_use
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured

SELDOM = 0.001  # share of inputs that reach a row


@check("PE703", "rows-seldom-seen", severity="note", needs=(lengths_in_use, position_tables))
def rows_seldom_seen(subject: Subject) -> Iterator[Finding | Measured]:
    """Fewer than one input in a thousand reaches the last rows of a learned table.

    Why: row p is trained by inputs with more than p tokens alone. When lengths fall off, the first rows get a thousand
    times the updates of the last, which stay near their initial noise, or fade by weight decay; an input that reaches
    them reads noise.

    Fix: pack or crop training texts so that all rows are reached, draw positions from a longer range at random, or give
    the model a shorter limit.

    Sources: Press et al. 2022, arXiv:2108.12409, section 2; Ruoss et al. 2023, arXiv:2305.16843 (positions at random).
    """
    used, judged = lengths_in_use(subject), False
    for table in position_tables(subject):
        if table.kind != "learned":
            continue
        judged = True
        usable = len(table.values) - table.reserved
        reached = np.array([(used > p).mean() for p in range(usable)])
        often = int((reached >= SELDOM).sum())
        yield Measured(f"rows of {table.name} reached by 1 in 1000 inputs", often, usable, "usable rows")
        if often < usable:
            yield Finding(
                table.name,
                f"rows {often + table.reserved} to {len(table.values) - 1} are reached by fewer than 1 in 1000 of"
                f" {len(used)} inputs",
                f"train on inputs that reach them, or limit inputs to {often} tokens",
                {"rows reached": often, "usable rows": usable, "inputs": len(used)},
            )
    if not judged:
        raise MissingEvidence("no learned table")
