"""Frequencies are a buffer and follow the model to bfloat16: positions of a long text can no longer be told apart."""

from pathlib import Path

from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.components import RotaryEmbedding


class InABuffer(RotaryEmbedding):
    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.register_buffer("inv_freq", super().frequencies(), persistent=False)

    def frequencies(self) -> Tensor:
        return self.inv_freq.float()  # type: ignore[union-attr,operator,return-value]


def faulty(folder: Path) -> nn.Module:
    return InABuffer(64)


def healthy(folder: Path) -> nn.Module:
    return RotaryEmbedding(64)


ITEM = Fault(
    source="InternLM/InternLM#237",
    check="PE327",
    where="the module",
    right="positions up to 600 are off by [0-9.]+.*keep frequencies in float32",
    build=faulty,
    healthy=healthy,
    severity="note",
)
