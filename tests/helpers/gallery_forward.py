"""Small models with faults of one forward pass, as they were reported, and the same models without."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from tests.helpers.toys import DIM, HEADS, ToyDecoder

WORDS = 50


def falcon(**options: Any) -> Any:
    """A tiny Falcon with ALiBi, eager from the start or with the fused path."""
    import transformers

    torch.manual_seed(0)
    fields = {"vocab_size": WORDS, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    return transformers.FalconForCausalLM(transformers.FalconConfig(**fields, **options)).eval()


def distances(length: int) -> Tensor:
    """(1, H, S, S): ALiBi for positions 0, 1, 2, ..."""
    slopes = 2.0 ** (-8.0 * torch.arange(1, HEADS + 1) / HEADS)
    places = torch.arange(length)
    return -slopes[:, None, None] * (places[:, None] - places).abs()[None, None]


class TwoPaths(ToyDecoder):
    """ALiBi in two paths, chosen by `return_attention`; both get what `fast` and `slow` add to the logits."""

    def fast(self, mask: Tensor) -> Tensor:
        return self.bias(mask) + distances(mask.shape[1])

    def slow(self, mask: Tensor) -> Tensor:
        return self.fast(mask)

    def forward(  # type: ignore[override]
        self, tokens: Tensor, attention_mask: Tensor | None = None, return_attention: bool = False
    ) -> Tensor:
        mask = torch.ones(tokens.shape) if attention_mask is None else attention_mask
        x: Tensor = self.words(tokens)
        for layer in self.layers:
            x = layer(x, self.slow(mask) if return_attention else self.fast(mask))
        return x


class Sinusoids(nn.Module):
    """The encoding of PyTorch's tutorial: sequence-first as published, or turned for batch-first data."""

    def __init__(self, dim: int, *, rows: int = 200, batch_first: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.batch_first, self.dropout = batch_first, nn.Dropout(dropout)
        table = sinusoid_rows(torch.arange(rows), dim)
        self.register_buffer("pe", table[None] if batch_first else table[:, None])

    def forward(self, x: Tensor) -> Tensor:
        pe: Tensor = self.pe  # type: ignore[assignment]
        out: Tensor = self.dropout(x + (pe[:, : x.size(1)] if self.batch_first else pe[: x.size(0)]))
        return out


def sinusoid_rows(positions: Tensor, dim: int) -> Tensor:
    """(P,) -> (P, dim): sine and cosine interleaved, base 10000."""
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
    angles = positions[:, None] * rates
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)[:, :dim]


class Stack(nn.Module):
    """Words, an encoding and torch's own layers, which are sequence-first unless told otherwise."""

    def __init__(self, encoding: nn.Module, *, batch_first: bool, scale: float = math.sqrt(DIM)) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.scale = scale
        self.words, self.encoding = nn.Embedding(WORDS, DIM), encoding
        layer = nn.TransformerEncoderLayer(DIM, HEADS, 48, dropout=0.0, batch_first=batch_first)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, src: Tensor) -> Tensor:
        out: Tensor = self.layers(self.encoding(self.words(src) * self.scale))
        return out
