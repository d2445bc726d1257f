"""All stacks in a few sentences: who agrees with the reference, who differs, who stops, and what is not known."""

from collections.abc import Iterator, Sequence

from gnomon.report.resolved.document import Column
from gnomon.resolving.lengths import UNSTATED, Lengths


def summary(columns: Sequence[Column], lengths: Lengths, spelling: Sequence[str] = ()) -> tuple[str, ...]:
    """Sentences about all columns together; the first column is the reference.

    `spelling`: the stacks (stack@version) that are off only because the file is spelt as transformers 5 saves it.
    """
    return tuple(_summary(columns[0], columns[1:], lengths, spelling))


def _summary(reference: Column, others: Sequence[Column], lengths: Lengths, spelling: Sequence[str]) -> Iterator[str]:
    if not lengths.stated:
        yield f"The file states no length that gnomon knows; {UNSTATED} tokens were taken."
    if reference.status != "serves":
        ended = "stops" if reference.status == "stops" else "has no such model"
        yield f"The reference {reference.name} {ended}, so that nothing is compared: {reference.message.rstrip('.')}."
    for verdict, words in WORDS.items():
        if names := [_name(column, others) for column in others if column.verdict == verdict]:
            yield f"{words.format(reference=reference.name)}: {', '.join(names)}."
    if names := [_name(column, others) for column in others if column.name in spelling]:
        yield f"{SAVED_BY_5}: {', '.join(names)}."
    if any(column.status == "serves" and column.sure != "run" for column in others):
        run = ", ".join(column.name for column in (reference, *others) if column.sure == "run")
        yield f"Known by running: {run}; all others by reading the code." if run else "All known by reading the code."


def _name(column: Column, others: Sequence[Column]) -> str:
    """With its version where it is not the newest, or where there are others of the same stack."""
    several = sum(other.stack == column.stack for other in others) > 1
    return column.stack if column.newest and not several else column.name


SAVED_BY_5 = (
    "Right again once the file is spelt as transformers 4 saved it, with rope_theta and rope_scaling in place of "
    "rope_parameters"
)
WORDS = {
    "equal": "The same as {reference}, but for rounding",
    "differs": "Otherwise than {reference}",
    "stops": "Ends with an error",
    "absent": "No such model, or not traced",
    "unknown": "Served, but not compared",
}
