"""The loss is too good from the first epoch, and generated text is noise: each token sees the later ones only.

The mask of torch's own Transformer says what is hidden; `tril` in place of `triu` hides the past.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault


class LanguageModelDecoder(nn.Module):
    def __init__(self, hide: Any) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words, self.positions, self.hide = nn.Embedding(50, 32), nn.Embedding(64, 32), hide
        layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens: Tensor) -> Tensor:
        length = tokens.shape[1]
        hidden = self.hide(torch.ones(length, length, dtype=torch.bool, device=tokens.device))
        x = self.words(tokens) + self.positions(torch.arange(length, device=tokens.device))
        out: Tensor = self.layers(x, mask=hidden)
        return out


def faulty(folder: Path) -> nn.Module:
    return LanguageModelDecoder(lambda ones: ones.tril(-1))


def healthy(folder: Path) -> nn.Module:
    return LanguageModelDecoder(lambda ones: ones.triu(1))


ITEM = Fault(
    source="page: torch documentation of nn.Transformer (True in a boolean mask hides)",
    check="PE304",
    where="attention",
    right=r"each token sees only the later ones.*triu\(diagonal=1\)",
    build=faulty,
    healthy=healthy,
)
