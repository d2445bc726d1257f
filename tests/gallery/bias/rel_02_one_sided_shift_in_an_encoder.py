"""A Conformer encoder takes position terms of the next row: the shift for causal models is used without a causal mask.

With as many distances as places, the upper triangle holds what is left over: numbers of the query below.
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


class Wrong(Shifted):
    causal = False


def faulty(folder: Path) -> nn.Module:
    return Wrong()


def healthy(folder: Path) -> nn.Module:
    return Encoder()


ITEM = Fault(
    source="ZhengkunTian/OpenTransformer#25, espnet/espnet#2816",
    check="PE315",
    where="blocks.*",
    right=r"though neither of them changed",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (transformer_xl(4, 8),)},
)
