"""With one new token for each row, every row of the batch but the first comes out as zeros.

The path for a single token goes over heads and leaves out the batch.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.toys import Toy


class WritesOneRow(Toy):
    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x = super().embed(tokens, ids)
        if tokens.shape[1] > 1:
            return x
        out = torch.zeros_like(x)
        out[0] = x[0]
        return out


def faulty(folder: Path) -> nn.Module:
    return WritesOneRow()


def healthy(folder: Path) -> nn.Module:
    return Toy()


ITEM = Fault(
    source="ml-explore/mlx#3494, ml-explore/mlx#3949",
    check="PE305",
    where="the batch axis",
    right="equal rows of one token each differ.*every row of the batch",
    build=faulty,
    healthy=healthy,
)
