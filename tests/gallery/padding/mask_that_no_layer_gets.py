"""An encoder takes a padding mask and hands it to no layer: short rows of a batch attend to the padding behind them.

Each row alone is right, so only batches of unequal rows show it.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault


class Encoder(nn.Module):
    passes_mask = True

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.position_embedding = nn.Embedding(60, 32), nn.Embedding(64, 32)
        layer = nn.TransformerEncoderLayer(32, 4, 48, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        places = torch.arange(input_ids.shape[1], device=input_ids.device)
        padding = None if attention_mask is None or not self.passes_mask else attention_mask == 0
        out: Tensor = self.layers(self.words(input_ids) + self.position_embedding(places), src_key_padding_mask=padding)
        return out


class Forgetting(Encoder):
    passes_mask = False


def faulty(folder: Path) -> nn.Module:
    return Forgetting()


def healthy(folder: Path) -> nn.Module:
    return Encoder()


ITEM = Fault(
    source="page: torch documentation of nn.TransformerEncoder, src_key_padding_mask",
    check="PE402",
    where="the forward",
    right="right padding changes the outputs of real tokens.*mask padded keys",
    build=faulty,
    healthy=healthy,
)
