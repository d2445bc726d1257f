"""PE507: a training step moves positions far less, or far more, than words."""

from collections.abc import Iterator

from gnomon.adapters.subject import MissingEvidence, Subject
from gnomon.doctor.check import check
from gnomon.doctor.evidence.stepping import Moved, training_step
from gnomon.report.document import Finding, Measured

LEAST, MOST = 1e-3, 1e3
WHY = "update / size of positions, over update / size of words; one Adam step on tables drawn alike gives 1"


@check("PE507", "update-ratio", severity="warning", needs=(training_step, "optimizer"))
def update_ratio(subject: Subject) -> Iterator[Finding | Measured]:
    """One step of the optimizer changes a position table, relative to its size, by far less or far more than the words.

    Why: what training does to a parameter is its update, not its gradient. A learning rate that is far too small, a
    parameter group that is left out or clipped alone, or a table drawn hundreds of times larger than the words keeps
    positions where they were; a table that is far too small for its rate is thrown about by every step.

    Fix: give positions the learning rate of the words, and draw both tables at one scale; words need a step that moves
    them by about 1/1000 of their size.

    Sources: the rule of thumb for update against size (about 1e-3) is from Karpathy's lectures "makemore", part 3.
    """
    subject.get("optimizer")
    step = training_step(subject)
    words = step.words
    if words is None or not words.ratio:
        raise MissingEvidence("the step moves no word table that positions could be compared with")
    if not step.positions:
        raise MissingEvidence("no trainable parameter that carries positions")
    for moved in step.positions:
        if moved.ratio is None:
            continue  # drawn as zeros: any step is infinitely large
        relative = moved.ratio / words.ratio
        yield Measured(f"update of {moved.name}, words 1", relative, f"{LEAST} to {MOST}", WHY)
        if not moved.rows or not LEAST <= relative <= MOST:
            yield _finding(moved, words, relative)


def _finding(moved: Moved, words: Moved, relative: float) -> Finding:
    slow = relative < LEAST
    return Finding(
        moved.name,
        f"one step changes it by {moved.ratio:.1g} of its size, the words by {words.ratio:.1g}"
        + (": positions stay where they are" if slow else ": positions are thrown about"),
        "give its parameter group the learning rate of the words, and draw both tables at one scale (std 0.02)"
        if slow
        else "draw the table at the scale of the words, or lower the learning rate of its group",
        {"update of positions": moved.ratio, "update of words": words.ratio, "relative": relative},
    )
