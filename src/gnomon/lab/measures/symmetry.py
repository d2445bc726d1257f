"""Whether both sides get the same attention: one of three properties in Wang et al. 2021, ICLR."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.identical import OfIdenticalWords
from gnomon.report.lab.results import MeasureInfo


@registry.register("symmetry")
@final
@dataclass(frozen=True)
class Symmetry(OfIdenticalWords):
    """By layer, 1 - sum |left - right| / sum (left + right) over keys at the same distance on both sides of a query.

    In rows of identical words, for each head by itself, then their mean. 1: both sides get the same; 0: one side gets
    all. Causal models see one side only and have no number.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("symmetry", "symmetry of attention", "", "layer")
    flat: ClassVar[str] = "a causal model sees one side only"

    def of_layer(self, logits: Float[Tensor, "H S S"]) -> float:
        return balance(logits)


def balance(logits: Float[Tensor, "H S S"]) -> float:
    """For one layer; -inf where a key is hidden. NaN where no query sees both sides."""
    shares = logits.softmax(-1)
    slots = logits.shape[1]
    query, far = torch.cartesian_prod(torch.arange(slots), torch.arange(1, slots)).unbind(1)
    inside = (query >= far) & (query + far < slots)
    query, far = query[inside], far[inside]
    left, right = shares[:, query, query - far], shares[:, query, query + far]
    both = (logits[0, query, query - far].isfinite() & logits[0, query, query + far].isfinite()).double()
    apart = ((left - right).abs() * both).sum(-1) / ((left + right) * both).sum(-1)
    return float(1 - apart.mean())
