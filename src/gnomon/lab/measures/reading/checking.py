"""What a measure asks of its options and of the task."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from gnomon.errors import GnomonError
from gnomon.lab.measures.base import Trained
from gnomon.lab.tasks.base import Batch


@runtime_checkable
class Text(Protocol):
    """A language task: see `gnomon.lab.tasks.characters.Characters`."""

    def segments(self, length: int, total: int) -> Batch:
        """The first `total` tokens in pieces that do not overlap."""

    def endings(self, length: int, *, last: int, rows: int, longest: int) -> Batch:
        """The same `last` tokens at every length, after `length` tokens in all."""


def text_of(trained: Trained, measure: str) -> Text:
    """The task of a language model; raises GnomonError for any other."""
    if not isinstance(trained.task, Text):
        raise GnomonError(
            f"The measure {measure} needs a language task such as characters, got {type(trained.task).__name__}."
        )
    return trained.task


def require_counts(measure: str, **counts: int) -> None:
    """Raise GnomonError unless every option is 1 or more."""
    for name, count in counts.items():
        if count < 1:
            raise GnomonError(f"The measure {measure} needs {name} of at least 1, got {count}.")


def require_endings(measure: str, lengths: Sequence[int], *, last: int, rows: int) -> None:
    """Raise GnomonError unless each length holds the `last` tokens that are scored."""
    require_counts(measure, last=last, rows=rows)
    if not lengths or min(lengths) < last:
        raise GnomonError(
            f"The measure {measure} scores the last {last} tokens; give lengths of {last} or more, not "
            f"{', '.join(map(str, lengths)) or 'none'}."
        )


def require_probe(measure: str, *, length: int, rows: int) -> None:
    """Raise GnomonError unless there are slots to tell apart and rows to hold out."""
    if length < 2 or rows < 2:
        raise GnomonError(
            f"The measure {measure} needs rows of 2 slots and 2 rows at least, got length={length}, rows={rows}."
        )
