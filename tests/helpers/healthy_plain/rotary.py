"""Decoders with rotary positions: complex numbers, precomputed tables, a cache with input positions, a library."""

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
    seeded,
    split,
)


def frequencies(theta: float = 10_000.0) -> Tensor:
    """Radians a position, one for each pair of a head."""
    return 1.0 / theta ** (torch.arange(0, HEAD_DIM, 2).float() / HEAD_DIM)


class Block(nn.Module):
    """Pre-norm causal attention; subclasses turn queries and keys (B, H, S, D)."""

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(4))
        self.feed_forward = mixer()

    def turn(self, x: Tensor, *tables: Tensor) -> Tensor:
        raise NotImplementedError

    def forward(self, x: Tensor, *tables: Tensor) -> Tensor:
        h = self.attention_norm(x)
        q, k, v = (split(part(h)) for part in (self.wq, self.wk, self.wv))
        y = F.scaled_dot_product_attention(self.turn(q, *tables), self.turn(k, *tables), v, is_causal=True)
        x = x + self.wo(joined(y))
        mixed: Tensor = x + self.feed_forward(self.ffn_norm(x))
        return mixed


@final
class ComplexBlock(Block):
    """Neighbouring lanes as complex numbers, multiplied by e^(i m theta)."""

    def turn(self, x: Tensor, *tables: Tensor) -> Tensor:
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
        return torch.view_as_real(pairs * tables[0]).flatten(-2).type_as(x)


@final
class ComplexLlama(nn.Module):
    """The published Llama code: one complex table, a plain attribute, cut to the tokens in use."""

    def __init__(self) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([ComplexBlock() for _ in range(2)])
        self.norm, self.output = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        angles = torch.outer(torch.arange(2 * LENGTH).float(), frequencies())
        self.freqs_cis = torch.polar(torch.ones_like(angles), angles)

    def forward(self, tokens: Tensor, start_pos: int = 0) -> Tensor:
        x = self.tok_embeddings(tokens)
        table = self.freqs_cis[start_pos : start_pos + tokens.size(1)].to(x.device)
        for layer in self.layers:
            x = layer(x, table)
        logits: Tensor = self.output(self.norm(x)).float()
        return logits


@final
class TableBlock(Block):
    """Halves of a head, turned with tables of cosines and sines as wide as the head."""

    def turn(self, x: Tensor, *tables: Tensor) -> Tensor:
        cos, sin = tables
        first, second = x.chunk(2, dim=-1)
        return x * cos + torch.cat((-second, first), dim=-1) * sin


@final
class TableLlama(nn.Module):
    """Cosines and sines computed once, kept in buffers outside the state dict, read at the position ids."""

    cos: Tensor
    sin: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([TableBlock() for _ in range(2)])
        self.norm, self.lm_head = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        angles = torch.outer(torch.arange(2 * LENGTH).float(), frequencies()).repeat(1, 2)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, input_ids: Tensor, position_ids: Tensor | None = None) -> Tensor:
        if position_ids is None:
            position_ids = torch.arange(input_ids.size(1), device=input_ids.device)[None]
        x = self.embed_tokens(input_ids)
        cos, sin = self.cos[position_ids][:, None], self.sin[position_ids][:, None]
        for layer in self.layers:
            x = layer(x, cos, sin)
        logits: Tensor = self.lm_head(self.norm(x))
        return logits


@final
class CachedBlock(nn.Module):
    """gpt-fast's way: a fused projection, pairs of neighbours, keys and values written to a buffer by position."""

    k_cache: Tensor
    v_cache: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.ffn_norm = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
        self.wqkv, self.wo = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.feed_forward = mixer()
        for name in ("k_cache", "v_cache"):
            self.register_buffer(name, torch.zeros(4, HEADS, LENGTH, HEAD_DIM), persistent=False)

    def forward(self, x: Tensor, table: Tensor, mask: Tensor, input_pos: Tensor) -> Tensor:
        q, k, v = (t.unflatten(-1, (HEADS, -1)) for t in self.wqkv(self.attention_norm(x)).chunk(3, dim=-1))
        q, k, v = (t.transpose(1, 2) for t in (_neighbours(q, table), _neighbours(k, table), v))
        rows = x.size(0)
        self.k_cache[:rows, :, input_pos], self.v_cache[:rows, :, input_pos] = k.detach(), v.detach()
        keys, values = self.k_cache[:rows], self.v_cache[:rows]
        y = F.scaled_dot_product_attention(q, keys.to(q), values.to(q), attn_mask=mask)
        x = x + self.wo(joined(y))
        mixed: Tensor = x + self.feed_forward(self.ffn_norm(x))
        return mixed


def _neighbours(x: Tensor, table: Tensor) -> Tensor:
    """x (B, S, H, D) turned in neighbouring pairs by a table (S, pairs, 2) of cosines and sines."""
    pairs, t = x.float().unflatten(-1, (-1, 2)), table[None, :, None]
    turned = (
        pairs[..., 0] * t[..., 0] - pairs[..., 1] * t[..., 1],
        pairs[..., 1] * t[..., 0] + pairs[..., 0] * t[..., 1],
    )
    return torch.stack(turned, dim=-1).flatten(3).type_as(x)


@final
class FastGPT(nn.Module):
    """Static caches: the caller says which positions (S,) the tokens have; without, they are the first."""

    freqs_cis: Tensor
    causal_mask: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(VOCABULARY, WIDTH)
        self.layers = nn.ModuleList([CachedBlock() for _ in range(2)])
        self.norm, self.output = nn.RMSNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        angles = torch.outer(torch.arange(LENGTH).float(), frequencies())
        self.register_buffer("freqs_cis", torch.stack((angles.cos(), angles.sin()), dim=-1), persistent=False)
        self.register_buffer("causal_mask", torch.ones(LENGTH, LENGTH, dtype=torch.bool).tril(), persistent=False)

    def forward(self, idx: Tensor, input_pos: Tensor | None = None) -> Tensor:
        places = torch.arange(idx.size(1), device=idx.device) if input_pos is None else input_pos
        x = self.tok_embeddings(idx)
        for layer in self.layers:
            x = layer(x, self.freqs_cis[places], self.causal_mask[None, None, places], places)
        logits: Tensor = self.output(self.norm(x))
        return logits


@final
class LibraryBlock(Block):
    """rotary-embedding-torch turns queries and keys."""

    def __init__(self) -> None:
        super().__init__()
        from rotary_embedding_torch import RotaryEmbedding

        self.rotary = RotaryEmbedding(HEAD_DIM)

    def turn(self, x: Tensor, *tables: Tensor) -> Tensor:
        turned: Tensor = self.rotary.rotate_queries_or_keys(x)
        return turned


@final
class LibraryDecoder(nn.Module):
    """Blocks that each hold their own rotary module."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.blocks = nn.Sequential(LibraryBlock(), LibraryBlock())
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens: Tensor) -> Tensor:
        logits: Tensor = self.head(self.blocks(self.embed(tokens)))
        return logits


ROTARY: dict[str, Builder] = {
    "llama, complex table": seeded(ComplexLlama),
    "llama, cosine and sine buffers": seeded(TableLlama),
    "gpt-fast, static cache": seeded(FastGPT),
    "rotary-embedding-torch": seeded(LibraryDecoder),
}
