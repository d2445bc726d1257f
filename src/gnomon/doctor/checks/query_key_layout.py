"""PE219: query and key rows are not arranged for the pairs that the model rotates, as the model before shows."""

from collections import Counter
from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.expected import place
from gnomon.doctor.evidence.query_key_rows import (
    Heads,
    arrangement,
    heads,
    layout_of,
    pairs_of_rows,
    reference_subject,
)
from gnomon.report.document import Finding, Measured


@check("PE219", "query-key-layout", severity="error", needs=(reference_subject, heads, "tensors"))
def query_key_layout(subject: Subject) -> Iterator[Finding | Measured]:
    """A conversion between halves and neighbouring pairs left the query and key rows as they were, or moved them twice.

    Why: two ways to pair the lanes of a head are in use, and both are right with weights that were trained, or
    gathered, for them. A converter that forgets to gather the rows gives a model that is exact at position 0, fluent
    nearby, and wrong in every layer beyond. Biases of queries and keys go with their rows; lanes that are not rotated
    stay.

    Fix: from pairs to halves gather each head's rows by [0, 2, 4, ..., 1, 3, 5, ...]; from halves to pairs by
    [0, r/2, 1, r/2 + 1, ...]. Queries, keys and their biases; not values, and once only.

    Sources: huggingface/nanotron#427, nurl-lang/nurl#584; transformers issues 25199 and 31859 for the healthy case.
    """
    other, shape = reference_subject(subject), heads(subject)
    before, after = layout_of(other), layout_of(subject)
    wanted = "same" if before == after else after
    yield Measured("pairs before and after", f"{before}, {after}", None, f"rows should be: {_said(wanted)}")
    found: Counter[tuple[str, str]] = Counter()
    for info, _, own, rows in pairs_of_rows(subject, other):
        found[place(info.name), arrangement(own, rows, shape) or "unknown"] += 1
    told = {key: count for key, count in found.items() if key[1] != "unknown"}
    yield Measured("projections that tell", sum(told.values()), None, f"of {sum(found.values())} that both models have")
    if not told:
        raise MissingEvidence("cannot tell: no query or key projection of the two models holds the same rows")
    for (where, how), count in told.items():
        if how != wanted:
            yield _finding(where, how, wanted, count, shape)


def _finding(where: str, how: str, wanted: str, count: int, shape: Heads) -> Finding:
    now, right = (shape.rows_of(state, shape.width) for state in (how, wanted))
    gather = now.argsort()[right].tolist()
    return Finding(
        where,
        f"the rows of {count} projections are {_said(how)}, but should be {_said(wanted)} for the rotation",
        f"gather the rows of each head (queries, keys and their biases) by {_listed(gather)}",
        {"found": how, "expected": wanted, "gather": gather},
    )


def _said(how: str) -> str:
    return "as before" if how == "same" else f"gathered to {'halves' if how == 'half' else 'neighbouring pairs'}"


def _listed(gather: list[int]) -> str:
    return str(gather if len(gather) <= 16 else [*gather[:8], "..."]).replace("'", "")
