"""BERT with relative keys fails above its configured length: distances are not clipped to the table of distances.

Relative positions have no longest input when distances beyond the table are clipped, as Shaw et al. do.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from tests.gallery.item import Fault
from tests.helpers.toys import HEADS, Toy

MOST = 10


class Relative(Toy):
    """One learned number for each head and distance, clipped to the table."""

    def __init__(self) -> None:
        super().__init__()
        del self.positions
        self.distance_embedding = nn.Embedding(2 * MOST - 1, HEADS)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens)
        return x

    def distances(self, length: int) -> Tensor:
        places = torch.arange(length)
        return (places[:, None] - places).clamp(1 - MOST, MOST - 1)

    def bias(self, mask: Tensor) -> Tensor:
        rows: Tensor = self.distance_embedding(self.distances(mask.shape[1]) + MOST - 1)
        return rows.permute(2, 0, 1)[None] + super().bias(mask)


class NotClipped(Relative):
    def distances(self, length: int) -> Tensor:
        places = torch.arange(length)
        return places[:, None] - places


def faulty(folder: Path) -> nn.Module:
    return NotClipped()


def healthy(folder: Path) -> nn.Module:
    return Relative()


ITEM = Fault(
    source="huggingface/transformers#17026",
    check="PE323",
    where="the forward",
    right="shaw has no longest input, but length 11 fails.*clip distances",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (Claim("shaw", "layers.*", {}),)},
    severity="warning",
)
