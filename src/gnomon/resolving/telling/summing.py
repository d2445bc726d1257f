"""All stacks in a few sentences: who agrees with the reference, who differs, who stops, and what is not known."""

from collections.abc import Iterator, Sequence

from gnomon.report.resolved.document import Column, label_of
from gnomon.resolving.lengths import UNSTATED, Lengths


def summary(columns: Sequence[Column], lengths: Lengths, spelling: Sequence[str] = ()) -> tuple[str, ...]:
    """Sentences about all columns together; the first column is the reference.

    `spelling`: the stacks (stack@version) that are off only because the file is spelt as transformers 5 saves it.
    """
    return tuple(_summary(columns, lengths, spelling))


def _summary(columns: Sequence[Column], lengths: Lengths, spelling: Sequence[str]) -> Iterator[str]:
    reference, *others = columns
    if not lengths.stated:
        yield f"The file states no length that gnomon knows; {UNSTATED} tokens were taken."
    if reference.status != "serves":
        ended = ENDED[reference.status]
        yield f"The reference {reference.name} {ended}, so that nothing is compared: {reference.message.rstrip('.')}."
    for verdict, words in WORDS.items():
        if names := [label_of(column, columns) for column in others if column.verdict == verdict]:
            yield f"{words.format(reference=reference.name)}: {', '.join(names)}."
    if names := [label_of(column, columns) for column in others if column.name in spelling]:
        yield f"{SAVED_BY_5}: {', '.join(names)}."
    if any(column.status == "serves" and column.sure != "run" for column in others):
        run = ", ".join(column.name for column in (reference, *others) if column.sure == "run")
        yield f"Known by running: {run}; all others by reading the code." if run else "All known by reading the code."


ENDED = {"stops": "stops", "absent": "does not serve this file", "broken": "was not read"}
SAVED_BY_5 = (
    "Right again once the file is spelt as transformers 4 saved it, with rope_theta and rope_scaling in place of "
    "rope_parameters"
)
WORDS = {
    "equal": "The same as {reference}, but for rounding",
    "differs": "Otherwise than {reference}",
    "stops": "Ends with an error",
    "absent": "No such model, or not traced",
    "broken": "gnomon's own reader broke, which says nothing of the engine",
    "unknown": "Served, but not compared",
}
