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
from tests.helpers.gallery_forms import Bucketed


class Wrong(Bucketed):
    def bucket(self, distance: Tensor) -> Tensor:
        far = 8 + ((distance / 8).clamp(min=1).log() / math.log(128 / 8) * 8).long()
        return torch.where(distance < 8, distance, far.clamp(max=15))


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Bucketed()


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
