"""The relative option makes positions absolute: vectors of 0, 1, 2, ... are used, and nothing is shifted.

Zero frames in front of a sound then move every score; a relative term does not change.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Shifted, transformer_xl


class Encoder(Shifted):
    """2 S - 1 distances, both signs; column S - 1 - query + key."""

    causal = False

    def distances(self, length: int) -> Tensor:
        return self.vectors[:, 32 - length : 31 + length]

    def shift(self, x: Tensor) -> Tensor:
        batch, heads, queries, width = x.shape
        padded = torch.cat((x.new_zeros(batch, heads, queries, 1), x), dim=-1)
        return padded.view(batch, heads, width + 1, queries)[:, :, 1:].reshape(x.shape)[..., :queries]


class Wrong(Encoder):
    def distances(self, length: int) -> Tensor:
        return self.vectors[:, :length]

    def shift(self, x: Tensor) -> Tensor:
        return x


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Encoder()


ITEM = Fault(
    source="wenet-e2e/wenet#1611, wenet-e2e/wenet#435, wenet-e2e/wenet#1612",
    check="PE311",
    where="blocks.*",
    right=r"equal tokens at one distance get other scores.*key position - query position",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
