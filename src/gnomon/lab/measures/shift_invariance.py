"""Whether only distances count: how much the output changes when all positions are moved by the same number.

Su et al. 2021, arXiv:2104.09864, section 3, ask of a relative encoding that it does not; Wang et al. 2021, ICLR ("On
Position Embeddings in BERT"), call it translation invariance.
"""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gnomon.lab.experiments.context import Context
from gnomon.lab.measures.base import Measure, Trained, registry
from gnomon.lab.measures.reading.checking import require_counts
from gnomon.lab.measures.reading.lengths import series
from gnomon.report.lab.results import MeasureInfo, Series


@registry.register("shift_invariance")
@final
@dataclass(frozen=True)
class ShiftInvariance(Measure):
    """Root mean square change of the logits over `rows` rows of random tokens when positions start at each of `shifts`.

    Relative to how far logits lie from their mean at a slot, which is what a softmax sees of them; the change is taken
    after that mean too. 0 for relative encodings, up to rounding.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo(
        "shift_invariance", "change of logits when positions are shifted", "of their spread", "shift"
    )
    shifts: list[int]
    length: int = 32
    rows: int = 16

    def __post_init__(self) -> None:
        require_counts(self.info.name, length=self.length, rows=self.rows, shift=min(self.shifts, default=0))

    def take(self, trained: Trained, context: Context) -> Series:
        generator = context.generator("measure", self.info.name)
        ids = torch.randint(trained.task.vocabulary, (self.rows, self.length), generator=generator)
        limit = trained.model.max_length
        fits = [limit is None or shift + self.length <= limit for shift in (0, *self.shifts)]
        why = "" if all(fits) else f"the encoding has {limit} positions"
        if not fits[0]:
            return Series(tuple(self.shifts), (None,) * len(self.shifts), why)
        plain = _logits(trained, ids, 0)
        changes = [
            float((_logits(trained, ids, shift) - plain).square().mean().sqrt() / plain.square().mean().sqrt())
            if enough
            else torch.nan
            for shift, enough in zip(self.shifts, fits[1:], strict=True)
        ]
        return series(self.shifts, changes, why)


@torch.no_grad()
def _logits(trained: Trained, ids: Int64[Tensor, "B S"], shift: int) -> Float[Tensor, "B S C"]:
    """Float64, with mean 0 at each slot."""
    device = next(trained.model.parameters()).device
    positions = torch.arange(shift, shift + ids.shape[1], device=device)[None]
    logits: Tensor = trained.model(ids.to(device), None, positions).double().cpu()
    return logits - logits.mean(-1, keepdim=True)
