"""All sines and then all cosines, instead of one after the other: a permutation of columns, and no fault.

Only weights that were trained with the other order cannot read it.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import LookAlike
from tests.helpers.gallery_tables import Classifier, sinusoids


class Blocks(Classifier):
    pe: Tensor

    def __init__(self) -> None:
        super().__init__()
        table = sinusoids(64)
        self.register_buffer("pe", torch.cat([table[:, ::2], table[:, 1::2]], dim=1))

    def embed(self, tokens: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.pe[: tokens.shape[1]]
        return x


def build(_: Path) -> nn.Module:
    return Blocks()


ITEM = LookAlike(
    source="lucidrains/denoising-diffusion-pytorch#357, tensorflow/tensor2tensor#177, tensorflow/tensor2tensor#1925",
    build=build,
    passes=("PE203", "PE205", "PE208"),
)
