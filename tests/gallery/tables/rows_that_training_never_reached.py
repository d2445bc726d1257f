"""A model that was trained on short texts gets worse past them: the last rows of its table are as they were drawn."""

from pathlib import Path

import torch
from torch import Tensor

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import edited, only
from tests.helpers.subjects import noise

ROWS, SEEN, WIDTH = 160, 100, 32


def build(folder: Path, trained: int) -> Path:
    def train(tensors: dict[str, Tensor]) -> None:
        """Neighbouring rows become alike, up to the longest text that training has seen."""
        phases = 6 * torch.rand(WIDTH, generator=torch.Generator().manual_seed(3))
        waves = torch.sin(torch.arange(ROWS)[:, None] * torch.linspace(0.01, 0.2, WIDTH) + phases)
        seen = (torch.arange(ROWS) < trained)[:, None]
        tensors[only(tensors, "position_embeddings")] = torch.where(seen, waves / 10, noise(ROWS, WIDTH))

    return edited(folder, "bert", train, max_position_embeddings=ROWS)


def faulty(folder: Path) -> Path:
    return build(folder, SEEN)


def healthy(folder: Path) -> Path:
    return build(folder, ROWS)


ITEM = Fault(
    source="page: arXiv 2010.04903 (neighbouring rows of trained tables are alike)",
    check="PE212",
    where="position_embeddings.weight",
    right=r"the last (5[6-9]|6[0-4]) look untrained.*keep inputs to",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
