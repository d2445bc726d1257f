"""A causal model called without a padding mask looks ahead: the bias is made into the mask, without its causal part.

With a padding mask the causal part is merged in; without one the fast path gets the ALiBi bias alone.
"""

from pathlib import Path

import torch
from torch import Tensor, nn

from tests.gallery.item import Fault
from tests.helpers.gallery_forward import distances
from tests.helpers.toys import ToyDecoder


class Merged(ToyDecoder):
    """Adds ALiBi to the causal mask."""

    def forward(self, tokens: Tensor, attention_mask: Tensor | None = None) -> Tensor:  # type: ignore[override]
        x: Tensor = self.words(tokens)
        for layer in self.layers:
            x = layer(x, self.whole(tokens, attention_mask))
        return x

    def whole(self, tokens: Tensor, attention_mask: Tensor | None) -> Tensor:
        mask = torch.ones(tokens.shape) if attention_mask is None else attention_mask
        return self.bias(mask) + distances(tokens.shape[1])


class BiasAlone(Merged):
    def whole(self, tokens: Tensor, attention_mask: Tensor | None) -> Tensor:
        return distances(tokens.shape[1]) if attention_mask is None else super().whole(tokens, attention_mask)


def faulty(folder: Path) -> nn.Module:
    return BiasAlone()


def healthy(folder: Path) -> nn.Module:
    return Merged()


ITEM = Fault(
    source="huggingface/transformers#29946",
    check="PE304",
    where="attention",
    right="changing the last of 13 tokens changes 12 earlier.*apply the causal mask on every attention path",
    build=faulty,
    healthy=healthy,
    evidence={"causal": True},
)
