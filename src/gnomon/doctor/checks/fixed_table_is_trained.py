"""PE210: a sinusoid table that the optimizer will move."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.tables import tables
from gnomon.report.document import Finding, Measured


@check("PE210", "fixed-table-is-trained", severity="warning", needs=(tables,))
def fixed_table_is_trained(subject: Subject) -> Iterator[Finding | Measured]:
    """A table that equals the sinusoid formula is a trainable parameter.

    Why: as a parameter it collects weight decay and gradients, so it drifts from the formula, takes memory in the
    optimizer, and a checkpoint carries it. Some advice says to use a parameter so that data-parallel ranks agree;
    buffers are broadcast too, and a table computed alike on every rank is alike.

    Fix: register it with `register_buffer(..., persistent=False)` or compute it from the positions when called; if it
    is a warm start for a learned table, ignore this check.

    Sources: torch documentation of DistributedDataParallel (`broadcast_buffers`) and of `register_buffer`.
    """
    judged = False
    for table in tables(subject):
        if table.sinusoid is None or table.info.role == "unknown":
            continue
        judged = True
        yield Measured(f"{table.name} is trained", str(table.info.trainable), "False", "a formula has nothing to learn")
        if table.info.trainable:
            yield Finding(
                table.name,
                "this sinusoid table is a parameter with requires_grad: the optimizer and weight decay will move it",
                "register it as a buffer with persistent=False, or set requires_grad to False",
            )
    if not judged:
        raise MissingEvidence("no sinusoid table in a module (a file does not say what is trained)")
