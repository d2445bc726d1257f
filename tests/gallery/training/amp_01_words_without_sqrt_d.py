"""A model is slow to learn what words mean: is the factor sqrt(d) on the embeddings needed?

Cause: word vectors drawn with std 0.02 lie under sinusoids of RMS 0.71. With the factor sqrt(512) they reach 0.45. With
words drawn as N(0, 1) no factor is needed: the ratio is what counts.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_training import sinusoids

WIDTH, ROWS = 512, 32


class Summed(nn.Module):
    """Words, times a factor, and sinusoids."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(40, WIDTH)
        nn.init.normal_(self.words.weight, std=0.02)
        self.register_buffer("positional_encoding", sinusoids(ROWS, WIDTH), persistent=False)
        self.layer = nn.TransformerEncoderLayer(WIDTH, 4, 32, dropout=0.0, batch_first=True)
        self.factor = factor

    def forward(self, ids: Tensor) -> Tensor:
        table: Tensor = self.positional_encoding  # type: ignore[assignment]
        out: Tensor = self.layer(self.words(ids) * self.factor + table[: ids.shape[1]])
        return out


def faulty(folder: Path) -> Summed:
    return Summed(1.0)


def healthy(folder: Path) -> Summed:
    return Summed(WIDTH**0.5)


ITEM = Fault(
    source="SamLynnEvans/Transformer#10, page: datascience.stackexchange.com/questions/87906",
    check="PE211",
    where="layer",
    right=r"3[45]\.\d times the size of words.*sqrt\(d\)",
    build=faulty,
    healthy=healthy,
    severity="warning",
)
