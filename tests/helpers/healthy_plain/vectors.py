"""Models of vectors: a forecaster of time series, learned queries over many inputs, and sets without an order."""

from typing import final

import torch
from torch import Tensor, nn

from tests.helpers.healthy_plain.kinds import HEADS, LENGTH, WIDTH, Builder, numbers, seeded
from tests.helpers.healthy_plain.language import PositionalEncoding


@final
class TimeSeries(nn.Module):
    """A few channels projected to the width, sinusoids, torch's encoder, and the next values read at each step."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.input_projection = nn.Linear(channels, WIDTH)
        self.positional_encoding = PositionalEncoding(batch_first=True)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.forecast = nn.Linear(WIDTH, channels)

    def forward(self, x: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.size(1), device=x.device)
        values: Tensor = self.forecast(self.encoder(self.positional_encoding(self.input_projection(x)), mask=mask))
        return values


@final
class Perceiver(nn.Module):
    """Learned queries read a long input that carries learned positions; the result has as many places as queries."""

    def __init__(self, channels: int = 6, queries: int = 5) -> None:
        super().__init__()
        self.input_proj = nn.Linear(channels, WIDTH)
        self.pos_emb = nn.Parameter(torch.randn(1, LENGTH, WIDTH) * 0.1)
        self.latents = nn.Parameter(torch.randn(1, queries, WIDTH) * 0.1)
        self.cross = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True)
        self.process = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x: Tensor) -> Tensor:
        seen = self.input_proj(x) + self.pos_emb[:, : x.size(1)]
        latents = self.latents.expand(len(x), -1, -1)
        latents = latents + self.cross(latents, seen, seen, need_weights=False)[0]
        read: Tensor = self.process(latents)
        return read


@final
class SetTransformer(nn.Module):
    """Points of a cloud: nothing tells their order, and nothing should."""

    def __init__(self, channels: int = 6) -> None:
        super().__init__()
        self.embed = nn.Linear(channels, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 4)

    def forward(self, points: Tensor) -> Tensor:
        labels: Tensor = self.head(self.blocks(self.embed(points)))
        return labels


VECTORS: dict[str, Builder] = {
    "time series": seeded(lambda: (TimeSeries(), (numbers(2, 16, 6),))),
    "perceiver": seeded(lambda: (Perceiver(), (numbers(2, 16, 6),))),
    "set transformer": seeded(lambda: (SetTransformer(), (numbers(2, 16, 6),))),
}
