"""How well names are found, as whole names: the F1 of Tjong Kim Sang and De Meulder 2003, arXiv:cs/0306050."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from gnomon.lab.measures.base import Trained, registry
from gnomon.lab.measures.reading.answers import answers
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import ByLength
from gnomon.lab.tasks.base import IGNORED, Batch
from gnomon.report.lab.results import MeasureInfo

Span = tuple[int, int, int]  #: kind, first slot, slot after the last


@registry.register("span_f1")
@final
@dataclass(frozen=True)
class SpanF1(ByLength):
    """2 right / (found + there) over the names of `rows` rows; a name is right when its kind and both ends are.

    Classes are those of `entities`: 0 is no name, 2k - 1 begins one of kind k, 2k goes on with it. There is no number
    where no name is and none was found.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("span_f1", "F1 of whole names", "share", "length", "higher")
    lengths: list[int] | None = None
    rows: int = 500

    def __post_init__(self) -> None:
        require_counts(self.info.name, rows=self.rows)

    def rows_of(self, trained: Trained, length: int | None, generator: torch.Generator) -> Batch:
        return trained.task.batch("test", length, self.rows, generator)

    def score(self, trained: Trained, batch: Batch, generator: torch.Generator) -> float:
        guessed = answers(trained, batch, generator, "teacher").masked_fill(batch.labels == IGNORED, IGNORED)
        pairs = [(spans(a), spans(b)) for a, b in zip(guessed.tolist(), batch.labels.tolist(), strict=True)]
        right = sum(len(found & there) for found, there in pairs)
        counted = sum(len(found) + len(there) for found, there in pairs)
        return 2 * right / counted if counted else float("nan")


def spans(classes: list[int]) -> set[Span]:
    """The names in a row. One that goes on without a beginning begins there, as in the script of the shared task.

    >>> sorted(spans([0, 1, 2, 1, 0, 4, 4]))
    [(1, 1, 3), (1, 3, 4), (2, 5, 7)]
    """
    found: set[Span] = set()
    kind, start = 0, 0
    for slot, number in enumerate([*classes, 0]):
        here = (number + 1) // 2 if number > 0 else 0
        goes_on = here == kind and number % 2 == 0
        if kind and not goes_on:
            found.add((kind, start, slot))
        if not goes_on:
            kind, start = here, slot
    return found
