"""A model of 8192 positions is cut at 2048: the engine's table has a literal size and not the config's."""

from pathlib import Path

import torch
from torch import Tensor, nn

from gnomon.adapters.claims import Claim
from tests.gallery.item import Fault
from tests.helpers.gallery_forward import sinusoid_rows
from tests.helpers.toys import DIM, Toy

STATED = 8192


class Engine(Toy):
    """Sinusoids from a table of so many rows, taken by the ids that are passed."""

    def __init__(self, rows: int) -> None:
        super().__init__()
        del self.positions
        self.register_buffer("table", sinusoid_rows(torch.arange(rows), DIM), persistent=False)

    def embed(self, tokens: Tensor, ids: Tensor) -> Tensor:
        x: Tensor = self.words(tokens) + self.table[ids]  # type: ignore[index]
        return x


def faulty(folder: Path) -> nn.Module:
    return Engine(2048)


def healthy(folder: Path) -> nn.Module:
    return Engine(STATED)


ITEM = Fault(
    source="mit-han-lab/llm-awq#332",
    check="PE323",
    where="the forward",
    right="8192 positions are stated, and position id 2048 fails.*look for the literal 2048",
    build=faulty,
    healthy=healthy,
    evidence={"claims": (Claim("sinusoidal", "embeddings", {"max_length": STATED}),)},
)
