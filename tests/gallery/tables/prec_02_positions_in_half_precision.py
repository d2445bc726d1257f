"""The last tokens of a long window share one position: the vector of positions was made in half precision.

In bfloat16 whole numbers beyond 256 run together; in float16, as in the report, those beyond 2,048.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier
from tests.helpers.toys import DIM


class Half(Classifier):
    pe: Tensor

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        positions = torch.arange(512).to(dtype).float()
        angles = positions[:, None] * 10_000.0 ** (-torch.arange(0, DIM, 2) / DIM)
        self.register_buffer("pe", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.pe[: tokens.shape[1]]
        return x


def faulty(_: Path) -> nn.Module:
    return Half(torch.bfloat16)


def healthy(_: Path) -> nn.Module:
    return Half(torch.int64)


ITEM = Fault(
    source="NVIDIA/Megatron-LM#535",
    check="PE207",
    where="pe",
    right=r"only 385 of 512 positions are distinct.*int64 positions in float32",
    build=faulty,
    healthy=healthy,
)
