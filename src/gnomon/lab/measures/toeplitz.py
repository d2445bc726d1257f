"""How much of attention follows from distance alone: its Toeplitz part, as Wennberg and Henter 2021, arXiv:2106.01950,
take it of position embeddings, here of the attention of a row of identical words (Wang et al. 2021, ICLR)."""

from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.lab.measures.base import registry
from gnomon.lab.measures.reading.identical import OfIdenticalWords
from gnomon.report.lab.results import MeasureInfo

FLAT = 1e-5  #: logits that differ by less, root mean square, are those of keys that are not told apart


@registry.register("toeplitz")
@final
@dataclass(frozen=True)
class Toeplitz(OfIdenticalWords):
    """By layer, the share of the variance of attention logits that a number for each distance explains.

    Logits between the slots that see each other, all heads together. What is added to a whole row of logits changes no
    softmax, so both the variance and the fit are taken after the best number for each row. No number where all keys get
    the same attention.
    """

    info: ClassVar[MeasureInfo] = MeasureInfo("toeplitz", "attention explained by distance", "share", "layer")
    flat: ClassVar[str] = "all keys get the same attention"

    def of_layer(self, logits: Float[Tensor, "H S S"]) -> float:
        return toeplitz_share(logits)


def toeplitz_share(logits: Float[Tensor, "H S S"]) -> float:
    """For one layer; -inf where a key is hidden. NaN for logits that are equal along each row."""
    seen = logits[0].isfinite()
    query, key = seen.nonzero().unbind(1)
    y = logits[:, query, key].double().mT
    slots = len(seen)
    rows = torch.eye(slots, dtype=torch.float64)[query]
    distances = torch.eye(2 * slots - 1, dtype=torch.float64)[query - key + slots - 1]
    around_rows = y - rows @ torch.linalg.lstsq(rows, y).solution
    both = torch.cat((rows, distances), dim=1)
    left = y - both @ torch.linalg.lstsq(both, y, driver="gelsd").solution
    if float(around_rows.square().mean().sqrt()) < FLAT:
        return float("nan")
    return float(1 - left.square().sum() / around_rows.square().sum())
