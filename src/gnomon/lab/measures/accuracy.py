"""How often all of an answer is right, by length: Kazemnejad et al. 2023, arXiv:2305.19466, section 3."""

from dataclasses import dataclass
from typing import ClassVar, final

from jaxtyping import Bool
from torch import Tensor

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.graded import OfAnswers
from gnomon.report.lab.results import MeasureInfo


@registry.register("exact_match")
@final
@dataclass(frozen=True)
class ExactMatch(OfAnswers):
    """The share of `rows` fresh rows in which every scored slot is right.

    An answer that is right slot by slot when the right tokens before it are given is the one that greedy decoding
    writes, so decoding="teacher", one pass, gives the number of decoding="greedy", one pass for each token.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("exact_match", "exact match", "share", "length", "higher")

    def of_slots(self, right: Bool[Tensor, "B S"], scored: Bool[Tensor, "B S"]) -> float:
        return float((right == scored).all(-1).double().mean())
