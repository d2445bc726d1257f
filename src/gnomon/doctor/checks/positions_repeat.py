"""PE324: two positions of one input are one to the model."""

from collections.abc import Iterator

import torch

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.base import attempt
from gnomon.doctor.evidence.calling import model
from gnomon.doctor.evidence.limits import Repeats, limit, repeats
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.rotary import rotary_uses
from gnomon.report.document import Finding, Measured

NEGATIVE = 3


@check("PE324", "positions-repeat", severity="error", needs=(model, limit, repeats))
def positions_repeat(subject: Subject) -> Iterator[Finding | Measured]:
    """Beyond some length every position is the last one again, or positions start over, and nothing is said.

    Why: `clamp(max=n - 1)` and `% n` keep a forward from failing on a long input, and take the order of its end away:
    all tokens past the limit stand at one place, or at places that are taken. Positions that are scaled and then cut to
    whole numbers fall together with their neighbours. A negative id, as counting a mask of
    padding gives it, reads the table from its end.

    Fix: raise a ValueError for ids outside the table, or extend it; compute sinusoids from the id instead of looking
    them up, if ids may be negative.

    Sources: asyml/texar-pytorch#77 (negative positions), speechbrain/speechbrain#2071 (only so many rows are given).
    """
    found = repeats(subject)
    yield Measured("places where positions repeat", len(found), 0, "each position has its own vector or angles")
    for repeat in found:
        if repeat.how == "shared":
            yield _shared(repeat)
            continue
        last = "are all the last one" if repeat.how == "clamped" else "start over from 0"
        yield Finding(
            repeat.where,
            f"positions are {repeat.how}: those from {repeat.first} on {last}, and the forward says nothing",
            f"raise a ValueError for inputs longer than {repeat.first}, or make the table longer",
            {"first": repeat.first},
        )
    yield from _negative(subject)


def _shared(repeat: Repeats) -> Finding:
    return Finding(
        repeat.where,
        f"neighbours share a position: {repeat.count} have that of the one before, the first at place {repeat.first}",
        "count tokens by a whole number each, torch.arange(length); positions that are scaled or divided, and then cut "
        "to whole numbers, fall together",
        {"shared": repeat.count, "first": repeat.first},
        severity="warning",  # some models number groups of tokens on purpose
    )


def _negative(subject: Subject) -> Iterator[Finding]:
    """Whether ids below 0 are taken, and read rows from the end of a table."""
    probe, ends = model(subject), limit(subject)
    rows = ends.runs
    if probe.signature.positions is None or rows is None or rows <= NEGATIVE:
        return
    content = probe.draw(1, NEGATIVE)
    ids = torch.arange(NEGATIVE, device=content.device)[None]
    try:
        below = probe(content, positions=ids - NEGATIVE)
        end = probe(content, positions=ids + rows - NEGATIVE)
    except MissingEvidence:
        return
    if difference(below, end) <= 1e-6:
        yield Finding(
            f"the argument {probe.signature.positions}",
            f"ids -{NEGATIVE} to -1 read rows {rows - NEGATIVE} to {rows - 1} of the table without a word",
            "refuse ids below 0, or compute the sinusoids from the id: sin(-3 f) is not row "
            f"{rows - NEGATIVE}; padding must not be counted to -1",
            {"rows": rows},
            # A token of padding that is turned by a wrong angle is masked, and adds nothing to its own vector.
            severity="note" if attempt(rotary_uses, subject) else "warning",
        )
