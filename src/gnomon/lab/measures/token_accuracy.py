"""How often one token of an answer, or one label, is right, by length.

Ruoss et al. 2023, arXiv:2305.16843, score tokens so. An answer that is written token by token is scored token by token
too: telling the model the right tokens before each slot raises the number of those that lose their place.
"""

from dataclasses import dataclass
from typing import ClassVar, final

from jaxtyping import Bool
from torch import Tensor

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.graded import OfAnswers
from gnomon.report.lab.results import MeasureInfo


@registry.register("token_accuracy")
@final
@dataclass(frozen=True)
class TokenAccuracy(OfAnswers):
    """The share of scored slots, over `rows` fresh rows, at which the most likely class is the right one.

    decoding="teacher": each slot is told the right tokens before it, the only way for tasks that label their slots.
    decoding="greedy": the model reads its own answer as it writes it, through the cache of keys and values; a token
    counts where it stands in its right place.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("token_accuracy", "token accuracy", "share", "length", "higher")

    def of_slots(self, right: Bool[Tensor, "B S"], scored: Bool[Tensor, "B S"]) -> float:
        return float(right.sum() / scored.sum())
