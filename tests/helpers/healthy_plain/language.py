"""Language models and encoders with positions that are added: tutorial code, GPT in 300 lines, BERT from scratch."""

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
    seeded,
    split,
    tokens,
)


@final
class PositionalEncoding(nn.Module):
    """The sinusoid table of many tutorials, a buffer (length, 1, width) for sequence-first vectors."""

    pe: Tensor

    def __init__(self, *, batch_first: bool = False) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.1)
        position = torch.arange(LENGTH).unsqueeze(1)
        falling = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        pe = torch.zeros(LENGTH, 1, WIDTH)
        pe[:, 0, 0::2] = torch.sin(position * falling)
        pe[:, 0, 1::2] = torch.cos(position * falling)
        self.batch_first = batch_first
        self.register_buffer("pe", pe.transpose(0, 1) if batch_first else pe)

    def forward(self, x: Tensor) -> Tensor:
        x = x + (self.pe[:, : x.size(1)] if self.batch_first else self.pe[: x.size(0)])
        dropped: Tensor = self.dropout(x)
        return dropped


@final
class TutorialLanguageModel(nn.Module):
    """Sequence-first nn.TransformerEncoder with a square causal mask, as in PyTorch's word-language-model example."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(VOCABULARY, WIDTH)
        self.pos_encoder = PositionalEncoding()
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, 0.1)
        self.transformer_encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.decoder = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, src: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(len(src), device=src.device)
        x = self.pos_encoder(self.encoder(src) * math.sqrt(WIDTH))
        logits: Tensor = self.decoder(self.transformer_encoder(x, mask))
        return logits


@final
class BatchFirstEncoder(nn.Module):
    """A batch-first nn.TransformerEncoder with torch's padding mask, one label for each token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.positions = PositionalEncoding(batch_first=True)
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, 7)

    def forward(self, ids: Tensor, src_key_padding_mask: Tensor | None = None) -> Tensor:
        x = self.positions(self.embedding(ids) * math.sqrt(WIDTH))
        labels: Tensor = self.head(self.encoder(x, src_key_padding_mask=src_key_padding_mask))
        return labels


@final
class CausalBlock(nn.Module):
    """Pre-norm attention with a fused projection and torch's causal kernel, or an explicit triangle."""

    mask: Tensor

    def __init__(self, *, fused: bool) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.c_attn, self.c_proj = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.mlp, self.fused = mixer(), fused
        self.register_buffer("mask", torch.tril(torch.ones(LENGTH, LENGTH))[None, None])

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (split(t) for t in self.c_attn(self.ln_1(x)).split(WIDTH, dim=2))
        if self.fused:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) / math.sqrt(k.size(-1))
            length = x.size(1)
            y = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf")).softmax(dim=-1) @ v
        x = x + self.c_proj(joined(y))
        mixed: Tensor = x + self.mlp(self.ln_2(x))
        return mixed


@final
class NanoGPT(nn.Module):
    """A learned table indexed by arange, words tied to the head, a loss beside the logits when targets are given."""

    def __init__(self) -> None:
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.h = nn.ModuleList([CausalBlock(fused=True) for _ in range(2)])
        self.ln_f = nn.LayerNorm(WIDTH)
        self.lm_head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.wte.weight = self.lm_head.weight
        for table in (self.wte, self.wpe):
            nn.init.normal_(table.weight, std=0.02)

    def forward(self, idx: Tensor, targets: Tensor | None = None) -> tuple[Tensor, Tensor | None]:
        positions = torch.arange(idx.size(1), device=idx.device)
        x = self.wte(idx) + self.wpe(positions)
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = None if targets is None else F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        return logits, loss


@final
class MinGPT(nn.Module):
    """A table of zeros that training fills, sliced to the length, and a stored triangle as the mask."""

    def __init__(self) -> None:
        super().__init__()
        self.tok_emb = nn.Embedding(VOCABULARY, WIDTH)
        self.pos_emb = nn.Parameter(torch.zeros(1, LENGTH, WIDTH))
        self.drop = nn.Dropout(0.1)
        self.blocks = nn.Sequential(*[CausalBlock(fused=False) for _ in range(2)])
        self.ln_f, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCABULARY, bias=False)
        nn.init.normal_(self.tok_emb.weight, std=0.02)

    def forward(self, idx: Tensor) -> Tensor:
        x = self.drop(self.tok_emb(idx) + self.pos_emb[:, : idx.size(1), :])
        logits: Tensor = self.head(self.ln_f(self.blocks(x)))
        return logits


@final
class Bert(nn.Module):
    """Words, positions and token types, each a table, normed together; post-norm layers; a pooled class beside them."""

    position_ids: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.position_embeddings = nn.Embedding(LENGTH, WIDTH)
        self.token_type_embeddings = nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.register_buffer("position_ids", torch.arange(LENGTH)[None])
        layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 48, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.pooler = nn.Linear(WIDTH, WIDTH)
        for table in (self.word_embeddings, self.position_embeddings, self.token_type_embeddings):
            nn.init.normal_(table.weight, std=0.02)

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        places = self.position_ids[:, : input_ids.size(1)]
        x = self.word_embeddings(input_ids) + self.position_embeddings(places) + self.token_type_embeddings(types)
        hidden = None if attention_mask is None else attention_mask == 0
        x = self.layers(self.norm(x), src_key_padding_mask=hidden)
        return x, self.pooler(x[:, 0]).tanh()


LANGUAGE: dict[str, Builder] = {
    "tutorial, sequence-first": seeded(lambda: (TutorialLanguageModel(), (tokens(12, 2),))),
    "encoder, batch-first": seeded(BatchFirstEncoder),
    "nanoGPT": seeded(NanoGPT),
    "minGPT": seeded(MinGPT),
    "bert from scratch": seeded(Bert),
}
