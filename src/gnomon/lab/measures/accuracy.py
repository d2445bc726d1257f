"""How often all of an answer is right, by length."""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.tasks.base import IGNORED
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("exact_match")
@final
@dataclass(frozen=True)
class ExactMatch(Measure):
    """The share of `rows` fresh rows in which every scored slot is right.

    An answer that is right slot by slot when the right tokens before it are given is the one that greedy decoding
    writes, so one pass is enough.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("exact_match", "exact match", "share", "length", "higher")
    lengths: list[int]
    rows: int = 200

    def take(self, trained: Trained, context: Context) -> Series:
        return Series(tuple(self.lengths), tuple(self._at(length, trained, context) for length in self.lengths))

    def _at(self, length: int, trained: Trained, context: Context) -> float | None:
        if not trained.fits(trained.task.slots(length)):
            return None
        generator = context.generator("measure", self.info.name, length)
        batch = trained.task.batch("test", length, self.rows, generator)
        right = (trained.logits(batch, generator).argmax(-1) == batch.labels) | (batch.labels == IGNORED)
        return float(right.all(-1).float().mean())
