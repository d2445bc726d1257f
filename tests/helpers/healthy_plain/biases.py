"""Models whose positions are in the attention scores: ALiBi, T5 buckets, Transformer-XL; and one of convolutions."""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.healthy_plain.kinds import (
    HEAD_DIM,
    HEADS,
    VOCABULARY,
    WIDTH,
    Builder,
    joined,
    mixer,
    seeded,
    split,
)


@final
class Block(nn.Module):
    """Pre-norm attention that is handed what is added to its scores, (1, H, Q, K)."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.proj, self.mlp = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH), mixer()

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        q, k, v = (split(t) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        x = x + self.proj(joined(F.scaled_dot_product_attention(q, k, v, attn_mask=bias)))
        mixed: Tensor = x + self.mlp(self.norm2(x))
        return mixed


class Biased(nn.Module):
    """Token embeddings, blocks and a head; subclasses give the bias for a length."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def bias(self, places: Tensor) -> Tensor:
        """What is added to the scores, (1, H, Q, K), for places (S,)."""
        raise NotImplementedError

    def forward(self, ids: Tensor) -> Tensor:
        x, bias = self.embed(ids), self.bias(torch.arange(ids.size(1), device=ids.device))
        for block in self.blocks:
            x = block(x, bias)
        logits: Tensor = self.head(x)
        return logits


def distances(places: Tensor) -> Tensor:
    """Key position minus query position, (Q, K)."""
    return places[None, :] - places[:, None]


@final
class ALiBiDecoder(Biased):
    """Slopes 2^(-8 h / H) times how far back a key lies, and minus infinity for the future."""

    def bias(self, places: Tensor) -> Tensor:
        slopes = torch.tensor([2.0 ** (-8.0 * (h + 1) / HEADS) for h in range(HEADS)], device=places.device)
        away = distances(places)
        return (slopes[:, None, None] * away).masked_fill(away > 0, -torch.inf)[None]


@final
class ALiBiEncoder(Biased):
    """The same slopes on the distance either way, kept in a buffer."""

    slopes: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("slopes", torch.tensor([2.0 ** (-8.0 * (h + 1) / HEADS) for h in range(HEADS)]))

    def bias(self, places: Tensor) -> Tensor:
        return -(self.slopes[:, None, None] * distances(places).abs())[None]


@final
class T5Encoder(Biased):
    """Learned biases for buckets of distances: half of them exact, half growing with the logarithm."""

    def __init__(self, buckets: int = 16, furthest: int = 64) -> None:
        super().__init__()
        self.buckets, self.furthest = buckets, furthest
        self.relative_attention_bias = nn.Embedding(buckets, HEADS)

    def bias(self, places: Tensor) -> Tensor:
        away = distances(places)
        half, exact = self.buckets // 2, self.buckets // 4
        far = away.abs().clamp(min=1).float()
        grown = exact + (far / exact).log() / math.log(self.furthest / exact) * (half - exact)
        bucket = torch.where(away.abs() < exact, away.abs(), grown.long().clamp(max=half - 1))
        values: Tensor = self.relative_attention_bias(bucket + half * (away > 0))
        return values.permute(2, 0, 1)[None]


@final
class RelativeAttention(nn.Module):
    """Transformer-XL: content and global biases against sinusoids of the distance, moved into place by a shift."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv_net, self.r_net = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.r_w_bias, self.r_r_bias = (nn.Parameter(torch.randn(HEADS, 1, HEAD_DIM) * 0.1) for _ in range(2))
        self.o_net, self.mlp = nn.Linear(WIDTH, WIDTH), nn.Sequential(nn.LayerNorm(WIDTH), mixer())

    def forward(self, x: Tensor, r: Tensor) -> Tensor:
        q, k, v = (split(t) for t in self.qkv_net(self.norm(x)).chunk(3, dim=-1))
        away = split(self.r_net(r)[None])
        content = (q + self.r_w_bias) @ k.mT
        scores = (content + _shifted((q + self.r_r_bias) @ away.mT)) / math.sqrt(HEAD_DIM)
        future = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        x = x + self.o_net(joined(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v))
        mixed: Tensor = x + self.mlp(x)
        return mixed


def _shifted(scores: Tensor) -> Tensor:
    """Scores (..., Q, distance Q-1 .. 0) so that the column of a key holds its own distance; the future is rubbish."""
    padded = F.pad(scores, (1, 0))
    q, k = scores.shape[-2:]
    turned: Tensor = padded.reshape(*scores.shape[:-2], k + 1, q)[..., 1:, :]
    return turned.reshape(scores.shape)


@final
class TransformerXL(nn.Module):
    """One segment, no memory."""

    def __init__(self) -> None:
        super().__init__()
        self.word_emb = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([RelativeAttention() for _ in range(2)])
        self.out = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        back = torch.arange(ids.size(1) - 1, -1, -1.0, device=ids.device)
        angles = torch.outer(back, 1 / 10_000 ** (torch.arange(0, WIDTH, 2, device=ids.device) / WIDTH))
        r, x = torch.cat((angles.sin(), angles.cos()), dim=-1), self.word_emb(ids)
        for layer in self.layers:
            x = layer(x, r)
        logits: Tensor = self.out(x)
        return logits


@final
class ConvolutionalPositions(nn.Module):
    """No table: a depthwise convolution before the blocks tells neighbours apart, as wav2vec 2.0 does."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.pos_conv = nn.Conv1d(WIDTH, WIDTH, 5, padding=2, groups=8)
        self.blocks = nn.ModuleList([Block() for _ in range(2)])
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids)
        x = x + F.gelu(self.pos_conv(x.mT)).mT
        for block in self.blocks:
            x = block(x, torch.zeros(1, 1, 1, ids.size(1), device=ids.device))
        logits: Tensor = self.head(x)
        return logits


BIASES: dict[str, Builder] = {
    "alibi from scratch, causal": seeded(ALiBiDecoder),
    "alibi from scratch, both ways": seeded(ALiBiEncoder),
    "t5 buckets from scratch": seeded(T5Encoder),
    "transformer-xl": seeded(TransformerXL),
    "positions by convolution": seeded(ConvolutionalPositions),
}
