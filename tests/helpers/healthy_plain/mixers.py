"""Models in which more than attention mixes tokens: convolutions, recurrences, retention; a tower read at its end."""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.healthy_plain.kinds import (
    HEAD_DIM,
    HEADS,
    LENGTH,
    VOCABULARY,
    WIDTH,
    Builder,
    joined,
    mixer,
    numbers,
    seeded,
    split,
    tokens,
)

MOST = 100


def sinusoids(places: Tensor) -> Tensor:
    """Sine and cosine side by side, (S, width)."""
    falling = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10_000.0) / WIDTH))
    angles = places[:, None] * falling
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1)


def shifted(scores: Tensor) -> Tensor:
    """Scores by offset n - 1, ..., 1 - n (B, H, S, 2 S - 1) -> by key (B, H, S, S)."""
    batch, heads, length, offsets = scores.shape
    padded = F.pad(scores, (1, 0)).view(batch, heads, offsets + 1, length)
    return padded[:, :, 1:].reshape(batch, heads, length, offsets)[..., :length]


@final
class ConformerBlock(nn.Module):
    """Attention with Transformer-XL's two terms, then a depthwise convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.offsets = nn.Linear(WIDTH, WIDTH, bias=False)
        self.content_bias, self.offset_bias = (nn.Parameter(torch.randn(HEADS, 1, HEAD_DIM) * 0.1) for _ in range(2))
        self.conv = nn.Conv1d(WIDTH, WIDTH, 7, padding=3, groups=WIDTH)
        self.norm1, self.norm2, self.norm3, self.mlp = *(nn.LayerNorm(WIDTH) for _ in range(3)), mixer()

    def forward(self, x: Tensor, table: Tensor) -> Tensor:
        q, k, v = (split(t) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        by_offset = (q + self.offset_bias) @ split(self.offsets(table)).mT
        scores = ((q + self.content_bias) @ k.mT + shifted(by_offset)) / math.sqrt(HEAD_DIM)
        x = x + self.out(joined(scores.softmax(dim=-1) @ v))
        x = x + F.silu(self.conv(self.norm2(x).mT)).mT
        mixed: Tensor = x + self.mlp(self.norm3(x))
        return mixed


@final
class Conformer(nn.Module):
    """Speech features; one table of sinusoids for the offsets from MOST - 1 to 1 - MOST, cut to the input."""

    table: Tensor

    def __init__(self, channels: int = 20) -> None:
        super().__init__()
        self.embed = nn.Linear(channels, WIDTH)
        self.register_buffer("table", sinusoids(torch.arange(MOST - 1, -MOST, -1)), persistent=False)
        self.blocks, self.ctc = nn.ModuleList([ConformerBlock() for _ in range(2)]), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, features: Tensor) -> Tensor:
        x, length = self.embed(features), features.size(1)
        for block in self.blocks:
            x = block(x, self.table[None, MOST - length : MOST + length - 1])
        scores: Tensor = self.ctc(x)
        return scores


@final
class RecurrentForecaster(nn.Module):
    """An LSTM, and causal attention over its states, as in temporal fusion: the recurrence tells the order."""

    def __init__(self, channels: int = 5) -> None:
        super().__init__()
        self.project, self.lstm = nn.Linear(channels, WIDTH), nn.LSTM(WIDTH, WIDTH, batch_first=True)
        self.attention, self.norm = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True), nn.LayerNorm(WIDTH)
        self.quantiles = nn.Linear(WIDTH, 3)

    def forward(self, x: Tensor) -> Tensor:
        h = self.lstm(self.project(x))[0]
        later = torch.ones(h.size(1), h.size(1), dtype=torch.bool, device=h.device).triu(1)
        told: Tensor = self.quantiles(self.norm(h + self.attention(h, h, h, attn_mask=later)[0]))
        return told


@final
class Retention(nn.Module):
    """Rotated queries and keys, and a decay by distance in place of softmax."""

    inverse: Tensor
    decay: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out, self.norm = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), nn.LayerNorm(HEAD_DIM)
        self.register_buffer("inverse", 10_000.0 ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM))
        self.register_buffer("decay", 1 - 2.0 ** (-5 - torch.arange(HEADS)))

    def turned(self, x: Tensor) -> Tensor:
        angles = torch.outer(torch.arange(x.size(2), device=x.device), self.inverse)
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()), dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(t) for t in self.qkv(x).chunk(3, dim=-1))
        places = torch.arange(x.size(1), device=x.device)
        distance = places[:, None] - places
        kept = (self.decay[:, None, None] ** distance.clamp(min=0)).masked_fill(distance < 0, 0.0)
        mixed: Tensor = self.out(joined(self.norm((self.turned(q) @ self.turned(k).mT * kept) @ v)))
        return mixed


@final
class RetNet(nn.Module):
    """Words, retention blocks, logits."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.retentions = nn.ModuleList([nn.Sequential(nn.LayerNorm(WIDTH), Retention()) for _ in range(2)])
        self.mixers = nn.ModuleList([nn.Sequential(nn.LayerNorm(WIDTH), mixer()) for _ in range(2)])

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        for retention, mlp in zip(self.retentions, self.mixers, strict=True):
            x = x + retention(x)
            x = x + mlp(x)
        logits: Tensor = self.head(x)
        return logits


@final
class TextTower(nn.Module):
    """CLIP's text side: causal, a bare parameter of positions, read at the token with the greatest id."""

    def __init__(self) -> None:
        super().__init__()
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.positional_embedding = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.1)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True, norm_first=True)
        self.blocks, self.projection = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(WIDTH, 16)

    def forward(self, text: Tensor) -> Tensor:
        length = text.size(1)
        x = self.token_embedding(text) + self.positional_embedding[:length]
        later = torch.ones(length, length, dtype=torch.bool, device=text.device).triu(1)
        read: Tensor = self.projection(self.blocks(x, mask=later)[torch.arange(len(text)), text.argmax(dim=-1)])
        return read


@final
class MovedTable(nn.Module):
    """fairseq's way: sinusoids kept as a plain attribute, and sent to the device of the words in each forward."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCABULARY, WIDTH), nn.Linear(WIDTH, VOCABULARY)
        self.weights = sinusoids(torch.arange(LENGTH))
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids) * math.sqrt(WIDTH)
        self.weights = self.weights.to(x)
        logits: Tensor = self.head(self.blocks(x + self.weights[: ids.size(1)]))
        return logits


MIXERS: dict[str, Builder] = {
    "conformer, table of offsets": seeded(lambda: (Conformer(), (numbers(2, 18, 20),))),
    "recurrence, then attention": seeded(lambda: (RecurrentForecaster(), (numbers(2, 16, 5),))),
    "retention": seeded(RetNet),
    "text tower, read at its end token": seeded(lambda: (TextTower(), (tokens(2, 16),))),
    "fairseq, a table that is sent along": seeded(MovedTable),
}
