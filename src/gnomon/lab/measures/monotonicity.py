"""Whether attention falls with distance: one of three properties in Wang et al. 2021, ICLR."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.identical import OfIdenticalWords
from gnomon.report.lab.results import MeasureInfo

TIE = 1e-5  #: logits that differ by less are rounding


@registry.register("monotonicity")
@final
@dataclass(frozen=True)
class Monotonicity(OfIdenticalWords):
    """By layer, the share of neighbouring keys of which the one nearer to the query gets more attention.

    In rows of identical words, over all heads, queries and keys that they see, on each side by itself; equal attention
    counts half. 1: attention falls with each step away; 0.5: no order; 0: it rises.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("monotonicity", "attention falls with distance", "share", "layer")

    def of_layer(self, logits: Float[Tensor, "H S S"]) -> float:
        return falling_share(logits)


def falling_share(logits: Float[Tensor, "H S S"]) -> float:
    """For one layer; -inf where a key is hidden."""
    step = logits[:, :, 1:] - logits[:, :, :-1]
    slots = torch.arange(logits.shape[1])
    rises_towards = torch.where(slots[1:] <= slots[:, None], 1.0, -1.0)  # left of the query, else right of it
    nearer = (step * rises_towards)[step.isfinite()]
    return float((nearer > TIE).double().mean() + (nearer.abs() <= TIE).double().mean() / 2)
