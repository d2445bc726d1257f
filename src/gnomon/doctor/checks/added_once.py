"""PE306: positions enter at the wrong place, twice, along the wrong axis, or not at all."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.additive import additive
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.component import component
from gnomon.doctor.evidence.entry import Entry, entry
from gnomon.doctor.evidence.tables import position_tables
from gnomon.report.document import Finding, Measured

WHOLE = 0.02  # how near a coefficient must be to 2, 3, ... to be called twice, three times
LOST = 1e-3


@check("PE306", "added-once", severity="error", needs=(entry,))
def added_once(subject: Subject) -> Iterator[Finding | Measured]:
    """Additive positions do not enter exactly once, before the first attention, along the sequence axis.

    Why: the five-step check of every debugging guide begins here. Added twice, positions drown the words; added after
    the first attention, that layer is blind to order; multiplied by a zero mask they never arrive; added along the
    batch axis they number the rows. None of these changes a shape. The measurement feeds one repeated token, so that
    whatever varies along the sequence is position and nothing else, and fits it against the table.

    Fix: x = words (times sqrt(d) if the model scales them) + table[positions], once, after the token embedding and
    before the first block.

    Sources: Vaswani et al. 2017, sections 3.4 and 3.5; the article's first two checks, docs/article.md.
    """
    found = entry(subject)
    if not additive(subject) and found.axis != "batch":
        raise MissingEvidence("the model adds no positions to its embeddings")
    yield Measured("axis along which positions vary", found.axis, "sequence", "measured on one repeated token")
    yield Measured("attentions before positions enter", found.attentions_before, 0, "positions come first")
    if found.coefficient is not None:
        why = f"fit of {found.table} with residual {found.residual:.1g}"
        yield Measured("times the table is added", round(found.coefficient, 4), 1, why)
    if found.axis == "batch" and attempt(component, subject) is not None:
        raise MissingEvidence("a bare position module: which axis of the data is the sequence, only the data can say")
    if found.axis == "batch" and model(subject).signature.sequence_first:
        yield _two_conventions(found)
    else:
        yield from _judge(found, _start_is_stated(subject, found))


def _two_conventions(found: Entry) -> Finding:
    """Which of the two axes the data has cannot be told here: one of the two parts is wrong in any case."""
    return Finding(
        found.where,
        "positions vary along dimension 1, and attention mixes along dimension 0: one of them takes the batch for the "
        "sequence",
        "for batch-first data (batch, sequence, width) give torch's layers batch_first=True, which is not the default; "
        "for sequence-first data add the table along dimension 0",
        {"axis": "batch"},
    )


def _start_is_stated(subject: Subject, found: Entry) -> bool:
    """Whether anything says which row position 0 has: a claim does, and so does the published formula."""
    stored = [t for t in attempt(position_tables, subject) or () if t.name == found.table]
    return not stored or stored[0].claim is not None


def _judge(found: Entry, start_is_stated: bool) -> Iterator[Finding]:
    if found.axis == "batch":
        yield Finding(
            found.where,
            "positions vary along the batch axis and not along the sequence",
            "add the encoding along the sequence axis: x + table[positions] for (batch, sequence, width)",
            {"axis": "batch"},
        )
    elif found.axis == "none":
        yield Finding(
            found.where,
            "positions never arrive: with one repeated token every hidden vector is the same",
            "the table is masked out, multiplied by zero, all zero, or its module is never called",
            {"coefficient": 0.0},
        )
    elif found.attentions_before:
        yield Finding(
            found.where,
            f"positions enter after {found.attentions_before} attentions: the layers before are blind to order",
            "add them to the embeddings, before the first block",
            {"attentions before": found.attentions_before},
        )
    elif found.coefficient is not None:
        yield from _coefficient(found, found.coefficient)
        yield from _start(found, start_is_stated)


def _coefficient(found: Entry, k: float) -> Iterator[Finding]:
    times = round(abs(k))
    if times >= 2 and abs(abs(k) - times) < WHOLE:
        yield Finding(
            found.where,
            f"the table is added {times} times ({k:.3f} times its values)",
            "add it once: look for a second call in the embedding module or in a wrapper around the model",
            {"times": k},
        )
    elif k < 0:
        yield Finding(
            found.where,
            f"the table is subtracted ({k:.3f} times its values)",
            "add it; a sign slipped in",
            {"times": k},
        )
    elif abs(k) < LOST:
        yield Finding(found.where, "the table arrives multiplied by nearly zero", "look for a mask", {"times": k})


def _start(found: Entry, stated: bool) -> Iterator[Finding]:
    if not found.shift or found.table is None:
        return
    off = ": off by one" if abs(found.shift) == 1 else ""
    yield Finding(
        found.where,
        f"the first token gets row {found.shift:+d} from the first usable row of {found.table}{off}",
        "start positions at 0 (after the reserved rows)"
        if stated
        else "start positions at row 0, unless the rows before it are reserved for padding",
        {"shift": found.shift},
        severity=None if stated else "note",
    )
