"""Encoder-decoders: nn.Transformer with masks, the Annotated Transformer's layout, Whisper's, gated convolutions."""

import math
from typing import final

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - torch's own name for it

from tests.helpers.healthy_plain.kinds import (
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
from tests.helpers.healthy_plain.language import PositionalEncoding


@final
class Seq2Seq(nn.Module):
    """nn.Transformer as translation tutorials use it, batch-first, with a causal mask for the target."""

    def __init__(self) -> None:
        super().__init__()
        self.src_tok_emb, self.tgt_tok_emb = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(VOCABULARY, WIDTH)
        self.positional_encoding = PositionalEncoding(batch_first=True)
        self.transformer = nn.Transformer(WIDTH, HEADS, 2, 2, 48, batch_first=True)
        self.generator = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=tgt.device)
        encoded = self.positional_encoding(self.src_tok_emb(src) * math.sqrt(WIDTH))
        decoded = self.positional_encoding(self.tgt_tok_emb(tgt) * math.sqrt(WIDTH))
        logits: Tensor = self.generator(self.transformer(encoded, decoded, tgt_mask=mask))
        return logits


@final
class MultiHeadedAttention(nn.Module):
    """Four projections and a mask (B, 1, Q, K) of what may be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.linears = nn.ModuleList([nn.Linear(WIDTH, WIDTH) for _ in range(4)])

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        q, k, v = (split(f(x)) for f, x in zip(self.linears, (query, key, value), strict=False))
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.size(-1))
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        mixed: Tensor = self.linears[3](joined(torch.matmul(F.softmax(scores, dim=-1), v)))
        return mixed


@final
class AnnotatedLayer(nn.Module):
    """Self-attention, attention to the source in a decoder, and a feed-forward part, each pre-norm and residual."""

    def __init__(self, *, decodes: bool) -> None:
        super().__init__()
        self.self_attn = MultiHeadedAttention()
        self.src_attn = MultiHeadedAttention() if decodes else None
        self.feed_forward = mixer()
        self.norms = nn.ModuleList([nn.LayerNorm(WIDTH) for _ in range(3)])

    def forward(
        self, x: Tensor, mask: Tensor | None = None, memory: Tensor | None = None, src_mask: Tensor | None = None
    ) -> Tensor:
        h = self.norms[0](x)
        x = x + self.self_attn(h, h, h, mask)
        if self.src_attn is not None and memory is not None:
            x = x + self.src_attn(self.norms[1](x), memory, memory, src_mask)
        mixed: Tensor = x + self.feed_forward(self.norms[2](x))
        return mixed


@final
class AnnotatedTransformer(nn.Module):
    """Both masks are arguments, as the batch object of that text makes them: 1 where a place may be seen."""

    def __init__(self) -> None:
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(VOCABULARY, WIDTH)
        self.position = PositionalEncoding(batch_first=True)
        self.encoder = nn.ModuleList([AnnotatedLayer(decodes=False) for _ in range(2)])
        self.decoder = nn.ModuleList([AnnotatedLayer(decodes=True) for _ in range(2)])
        self.generator = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src: Tensor, tgt: Tensor, src_mask: Tensor, tgt_mask: Tensor) -> Tensor:
        memory = self.position(self.src_embed(src) * math.sqrt(WIDTH))
        for layer in self.encoder:
            memory = layer(memory, src_mask)
        x = self.position(self.tgt_embed(tgt) * math.sqrt(WIDTH))
        triangle = torch.ones(tgt.size(1), tgt.size(1), dtype=torch.bool, device=tgt.device).tril()
        for layer in self.decoder:
            x = layer(x, tgt_mask & triangle, memory, src_mask)
        return F.log_softmax(self.generator(x), dim=-1)


def annotated() -> tuple[nn.Module, dict[str, Tensor]]:
    seen = torch.ones(2, 1, 1, 1, dtype=torch.bool)
    return AnnotatedTransformer(), {
        "src": tokens(2, 9),
        "tgt": tokens(2, 7, seed=2),
        "src_mask": seen,
        "tgt_mask": seen,
    }


@final
class WhisperLike(nn.Module):
    """Frames halved by two convolutions, sinusoids in a buffer there; a learned table for the tokens."""

    positional_embedding: Tensor

    def __init__(self, bins: int = 8, frames: int = 24) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(bins, WIDTH, 3, padding=1)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        scale = math.log(10_000) / (WIDTH // 2 - 1)
        angles = torch.outer(torch.arange(frames).float(), torch.exp(-scale * torch.arange(WIDTH // 2)))
        self.register_buffer("positional_embedding", torch.cat((angles.sin(), angles.cos()), dim=1))
        self.encoder = nn.ModuleList([AnnotatedLayer(decodes=False) for _ in range(2)])
        self.token_embedding = nn.Embedding(VOCABULARY, WIDTH)
        self.token_positions = nn.Parameter(torch.randn(LENGTH, WIDTH) * 0.02)
        self.decoder = nn.ModuleList([AnnotatedLayer(decodes=True) for _ in range(2)])
        nn.init.normal_(self.token_embedding.weight, std=0.02)

    def forward(self, mel: Tensor, tokens: Tensor) -> Tensor:
        heard = F.gelu(self.conv2(F.gelu(self.conv1(mel)))).mT + self.positional_embedding
        for layer in self.encoder:
            heard = layer(heard)
        x = self.token_embedding(tokens) + self.token_positions[: tokens.size(-1)]
        triangle = torch.ones(tokens.size(1), tokens.size(1), device=tokens.device).tril()
        for layer in self.decoder:
            x = layer(x, triangle, heard)
        logits: Tensor = x @ self.token_embedding.weight.mT
        return logits


@final
class ConvS2S(nn.Module):
    """A learned table and gated causal convolutions in place of attention, with one attention over what came before."""

    def __init__(self) -> None:
        super().__init__()
        self.embed, self.pos = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.convolutions = nn.ModuleList([nn.Conv1d(WIDTH, 2 * WIDTH, 3) for _ in range(2)])
        self.attention = MultiHeadedAttention()
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        for convolution in self.convolutions:
            x = x + F.glu(convolution(F.pad(x.mT, (2, 0))), dim=1).mT
        triangle = torch.ones(ids.size(1), ids.size(1), device=ids.device).tril()
        logits: Tensor = self.head(x + self.attention(x, x, x, triangle))
        return logits


TWO_STACKS: dict[str, Builder] = {
    "seq2seq, nn.Transformer": seeded(lambda: (Seq2Seq(), (tokens(2, 9), tokens(2, 7, seed=2)))),
    "annotated transformer": seeded(annotated),
    "whisper-like": seeded(lambda: (WhisperLike(), (numbers(2, 8, 48), tokens(2, 7)))),
    "convolutions, ConvS2S": seeded(ConvS2S),
}
