"""The loss of each part of a row, from its beginning to its end: Press et al. 2022, arXiv:2108.12409, appendix B.

It tells what perplexity mixes: tokens early in a row, which have little context, and tokens beyond the trained length.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import series, too_long
from gnomon.lab.measures.reading.pieces import token_losses
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("loss_by_position")
@final
@dataclass(frozen=True)
class LossByPosition(Measure):
    """The mean loss in each run of `bucket` slots of rows of one `length`; a run is named by its first slot.

    A last run that is shorter is scored too. A run without a scored slot has no number.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("loss_by_position", "loss by position", "nats", "position", "lower")
    length: int
    bucket: int = 16
    rows: int = 64

    def __post_init__(self) -> None:
        require_counts(self.info.name, length=self.length, bucket=self.bucket, rows=self.rows)

    def take(self, trained: Trained, context: Context) -> Series:
        generator = context.generator("measure", self.info.name)
        batch = trained.task.batch("test", self.length, self.rows, generator)
        slots = batch.ids.shape[1]
        starts = range(0, slots, self.bucket)
        if not trained.fits(slots):
            return Series(tuple(starts), (None,) * len(starts), too_long(trained))
        losses = token_losses(trained, batch, generator)
        means = [float(losses[:, start : start + self.bucket].nanmean()) for start in starts]
        return series(starts, means, "no slot there is scored" if any(mean != mean for mean in means) else "")
