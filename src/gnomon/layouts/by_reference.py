"""The layout by a second model that is right: which arrangement of rows gives its outputs, or has its rows."""

from collections import Counter
from collections.abc import Mapping

from torch import Tensor

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.evidence.calling import untouched_model
from gnomon.doctor.evidence.noise import difference
from gnomon.doctor.evidence.query_key_rows import arrangement, heads, pairs_of_rows
from gnomon.kernels.rotation import Layout
from gnomon.layouts.found import Evidence
from gnomon.layouts.moving import moved
from gnomon.layouts.stored import Stored
from gnomon.layouts.stored import stored as held

BATCH, LENGTH = 2, 19
EQUAL = 1e-3  #: of the largest output: half precision on one side leaves as much
APART, NOISE = 10.0, 1e-5  #: the others are so many times as far, and further than rounding is


def by_reference(subject: Subject, stored: Stored, reference: Subject) -> Evidence:
    """Outputs of both models on the same tokens where both run, else the rows of their projections."""
    try:
        return _by_outputs(subject, stored, reference)
    except MissingEvidence as missing:
        reason = str(missing)
    try:
        return _by_rows(subject, reference)
    except MissingEvidence as missing:
        return Evidence("reference", None, f"{reason}; {missing}")


def _by_outputs(subject: Subject, stored: Stored, reference: Subject) -> Evidence:
    mine, theirs = untouched_model(subject), untouched_model(reference)
    if not (mine.takes_ids and theirs.takes_ids):
        raise MissingEvidence("both models must take token ids to be run alike")
    narrow = min(mine, theirs, key=lambda probe: probe.vocabulary)
    content = narrow.draw(BATCH, min(mine.length(LENGTH), theirs.length(LENGTH)), seed=21)
    wanted = theirs(content.to(theirs.device)).cpu()
    found = {}
    for how in ("same", "half", "interleaved"):
        output = moved(subject, mine, how)(content.to(mine.device)).cpu()
        _require_alike(output, wanted)
        found[how] = difference(output, wanted)
    numbers = {_said(how, "as it is"): value for how, value in found.items()}
    needed = _alone(found, stored)
    if needed is None:
        words = "no arrangement alone gives the outputs of the reference"
        return Evidence("reference", None, words, numbers)
    layout, twice = stored.told(needed)
    words = f"with the rows {_said(needed, 'as they are')} the outputs are those of the reference (largest difference)"
    return Evidence("reference", layout, words, numbers, twice)


def _alone(found: Mapping[str, float], stored: Stored) -> str | None:
    """The arrangement that gives the same outputs where the others do not; None where there is no such one.

    With four turned lanes both ways to gather them are one: then it is the one that fits what runs.
    """
    needed = min(found, key=lambda how: (found[how], how != stored.runs))
    least = found[needed]
    others = [found[how] for how in found if how != needed and ("same" in (how, needed) or found[how] != least)]
    return needed if least < EQUAL and min(others) > max(APART * least, NOISE) else None


def _require_alike(output: Tensor, wanted: Tensor) -> None:
    if output.shape != wanted.shape:
        shapes = f"{tuple(output.shape)} and {tuple(wanted.shape)}"
        raise MissingEvidence(f"the outputs of the two models have different shapes, {shapes}")


def _by_rows(subject: Subject, reference: Subject) -> Evidence:
    """The rows of projections that both have; the layout of the reference is what it says of itself."""
    before, shape = held(reference).claimed, heads(subject)
    if before is None:
        raise MissingEvidence("the layout of the reference is not known")
    counts = Counter(arrangement(own, rows, shape) for _, _, own, rows in pairs_of_rows(subject, reference))
    told = {how: count for how, count in counts.items() if how is not None}
    numbers = {_said(how, "as in the reference"): float(count) for how, count in told.items()}
    if len(told) != 1:
        words = "projections differ in it" if told else "no query or key projection of the two holds the same rows"
        return Evidence("reference", None, f"{words}", numbers)
    [how] = told
    twice = how == before
    layout: Layout = before if how == "same" else "half" if how == "half" else "interleaved"
    words = f"the reference is {before}, and rows lie {_said(how, 'as in it')} (number of projections)"
    return Evidence("reference", None if twice else layout, words, numbers, twice)


def _said(how: str, same: str) -> str:
    return same if how == "same" else f"gathered to {how}"
