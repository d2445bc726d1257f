"""A decoder uses half of its buckets: the two-way rule of the encoder is left on.

All numbers for distances from 8 on are then shared too early; weights of the original model are read at the wrong
rows.
"""

import math
from pathlib import Path

import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Form


class Right(Form):
    """One learned number for each head and bucket; `bucket` is the published rule of a decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.numbers = nn.Embedding(32, self.heads)
        nn.init.normal_(self.numbers.weight)

    def bucket(self, distance: Tensor) -> Tensor:
        far = 16 + ((distance / 16).clamp(min=1).log() / math.log(128 / 16) * 16).long()
        return torch.where(distance < 16, distance, far.clamp(max=31))

    def bias(self, length: int) -> Tensor:
        places = torch.arange(length)
        numbers: Tensor = self.numbers(self.bucket((places[:, None] - places).clamp(min=0)))
        return numbers.permute(2, 0, 1)


class Wrong(Right):
    def bucket(self, distance: Tensor) -> Tensor:
        far = 8 + ((distance / 8).clamp(min=1).log() / math.log(128 / 8) * 8).long()
        return torch.where(distance < 8, distance, far.clamp(max=15))


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Right()


ITEM = Fault(
    source="google-research/text-to-text-transfer-transformer#415",
    check="PE318",
    where="blocks.*",
    right=r"bidirectional=False",
    build=faulty,
    healthy=healthy,
    evidence={
        "claims": (Claim("t5", "layers.*.attention", {"num_buckets": 32, "max_distance": 128, "direction": "causal"}),)
    },
)
