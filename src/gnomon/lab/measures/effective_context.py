"""How much context a language model makes use of, as Dai et al. 2019, arXiv:1901.02860, section 4.4, ask.

Their relative effective context length compares models on the tokens that are hard for all of them; here each model is
held against itself, on the same last tokens of rows of each length.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from gnomon.errors import GnomonError
from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_endings, text_of
from gnomon.lab.measures.reading.lengths import too_long
from gnomon.lab.measures.reading.pieces import token_losses
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("effective_context")
@final
@dataclass(frozen=True)
class EffectiveContext(Measure):
    """The shortest of `lengths` at which the loss of the `last` tokens is within `threshold` nats of the lowest.

    More context than that lowers it no further, by the threshold. Lengths that the encoding has no positions for are
    left out.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "effective_context", "context that lowers the loss", "tokens", "", "higher"
    )
    lengths: list[int]
    last: int = 32
    rows: int = 64
    threshold: float = 0.01

    def __post_init__(self) -> None:
        require_endings(self.info.name, self.lengths, last=self.last, rows=self.rows)
        if not self.threshold >= 0:
            raise GnomonError(f"The measure effective_context takes a threshold of 0 or more, got {self.threshold}.")

    def take(self, trained: Trained, context: Context) -> Series:
        losses = {
            length: self._loss(length, trained, context) for length in sorted(self.lengths) if trained.fits(length)
        }
        if not losses:
            text_of(trained, self.info.name)
            return Series.number(None, too_long(trained))
        lowest = min(losses.values())
        return Series.number(next(length for length, loss in losses.items() if loss <= lowest + self.threshold))

    def _loss(self, length: int, trained: Trained, context: Context) -> float:
        text = text_of(trained, self.info.name)
        batch = text.endings(length, last=self.last, rows=self.rows, longest=max(self.lengths))
        generator = context.generator("measure", self.info.name, length)
        return float(token_losses(trained, batch, generator).nanmean())
