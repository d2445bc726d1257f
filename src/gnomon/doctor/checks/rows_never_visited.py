"""PE512: rows of a learned table that no training batch reads."""

from collections.abc import Iterator

import numpy as np

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.visits import Visited, visits
from gnomon.report.document import Finding, Measured


@check("PE512", "rows-never-visited", severity="warning", needs=(visits,))
def rows_never_visited(subject: Subject) -> Iterator[Finding | Measured]:
    """The batches leave rows of a learned table unread: before the first position, between positions, or at the end.

    Why: a row that no batch reads keeps its initial noise (or decays to zero). First rows are skipped when ids start at
    1, or when an offset for a CLS token is added before the token is joined, which leaves CLS without a position. Holes
    come from strides. An unread end is what texts shorter than the table leave.

    Fix: start ids at the first usable row (0, or the reserved rows), join special tokens before positions are counted;
    train on texts as long as the table, or make it shorter.

    Sources: NVIDIA/Megatron-LM pull request 6260 (an offset for CLS that no token uses).
    """
    found = visits(subject)
    judged = [v for v in found.visited if v.table.kind == "learned"]
    if not judged:
        raise MissingEvidence("no learned table was looked up")
    for visited in judged:
        used = visited.counts[visited.table.reserved :]
        read = int((used > 0).sum())
        yield Measured(f"rows of {visited.table.name} that batches read", read, len(used), "usable rows")
        yield from _judged(visited, found.batches)


def _judged(visited: Visited, batches: int) -> Iterator[Finding]:
    reserved, name = visited.table.reserved, visited.table.name
    seen = np.flatnonzero(visited.counts[reserved:])
    first, last, rows = int(seen[0]), int(seen[-1]), len(visited.counts) - reserved
    if first > 0:
        yield Finding(
            name,
            f"rows {reserved} to {reserved + first - 1} are read by no batch, the first token reads row"
            f" {reserved + first}",
            f"give the first token position 0 (row {reserved}); count positions after special tokens are joined",
            {"first row read": reserved + first, "first usable row": reserved},
        )
    holes = last - first + 1 - len(seen)
    if holes:
        yield Finding(
            name,
            f"{holes} rows between {reserved + first} and {reserved + last} are read by no batch",
            "count positions in steps of one",
            {"holes": holes},
        )
    if last < rows - 1:
        yield Finding(
            name,
            f"the last {rows - 1 - last} rows are read by none of {batches} batches: the longest position is {last}",
            f"keep later inputs to {last + 1} tokens, or train on longer ones",
            {"longest position": last, "rows": rows},
            severity="note",
        )
