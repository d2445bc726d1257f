"""Rotary was chosen and the learned table is still added: two flags that do not know of each other.

Training works, the table has a last row, and a process that skips it finds parameters without a gradient.
"""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forms import Rotated, rotary


class Both(Rotated):
    def __init__(self) -> None:
        super().__init__()
        self.position_embeddings = nn.Embedding(64, self.heads * self.head_dim)

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.position_embeddings(positions)
        return x


def faulty(folder: Path) -> nn.Module:
    return Both()


def healthy(folder: Path) -> nn.Module:
    return Rotated()


ITEM = Fault(
    source="deepspeedai/Megatron-DeepSpeed#169, NVIDIA/Megatron-LM#401",
    check="PE316",
    where="blocks.0",
    right=r"are rotated .blocks.*remove the table where the rotation is meant",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (rotary(8),)},
    severity="warning",
)
