"""A context of 56 tokens fails as one of 150 does: all 77 rows of the table are added, whatever the length."""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_tables import Classifier
from tests.helpers.toys import DIM

ROWS = 77


class TextTower(Classifier):
    def __init__(self, *, sliced: bool) -> None:
        super().__init__()
        self.sliced, self.positional_embedding = sliced, nn.Parameter(torch.randn(ROWS, DIM) * 0.02)

    def embed(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        if self.sliced and length > ROWS:
            raise ValueError(f"The text has {length} tokens, but the table has {ROWS} positions.")
        x: Tensor = self.words(tokens) + self.positional_embedding[: length if self.sliced else ROWS]
        return x


def example() -> tuple[Tensor]:
    return (torch.arange(ROWS).repeat(2, 1) % 40,)


def faulty(_: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return TextTower(sliced=False), example()


def healthy(_: Path) -> tuple[nn.Module, tuple[Tensor]]:
    return TextTower(sliced=True), example()


ITEM = Fault(
    source="openai/CLIP#110, openai/CLIP#432",
    check="PE323",
    where="the forward",
    right=r"only inputs of exactly 77 tokens.*cut the table to the input",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
