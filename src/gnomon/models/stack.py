"""What a decoder and an encoder share: embeddings, positions added once, blocks, a last norm."""

from itertools import repeat
from typing import final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon import positions as position_ids
from gnomon.attention import Attention, AttentionMask, Cache, KeyValues
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, ShapeError
from gnomon.models.block import Block
from gnomon.models.embedding import TokenEmbedding
from gnomon.models.options import ModelOptions


@final
class Stack(nn.Module):
    """Token embeddings, then the encoding's `embed` hook exactly once, then the blocks.

    One encoding serves all layers. It is the same module everywhere, so its parameters, if it has any, train as one and
    appear in the state dict under each layer's name (`safetensors.torch.save_model` stores them once).
    """

    def __init__(self, options: ModelOptions, *, encoding: PositionEncoding, causal: bool) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(options.vocabulary, options.dim, options.embedding)
        self.encoding = encoding
        self.blocks = nn.ModuleList(
            Block(
                Attention(
                    options.dim,
                    num_heads=options.num_heads,
                    num_key_heads=options.num_key_heads,
                    encoding=encoding,
                    causal=causal,
                ),
                dim=options.dim,
            )
            for _ in range(options.num_layers)
        )
        self.norm = nn.LayerNorm(options.dim)

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        mask: AttentionMask,
        positions: Int[Tensor, "#B S"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S) int64 -> (B, S, W); positions follow from the mask and the cache unless they are passed."""
        mask.check(*ids.shape)
        if cache is not None and len(cache.layers) != len(self.blocks):
            raise GnomonError(
                f"The cache has {len(cache.layers)} layers, the model {len(self.blocks)}; use new_cache()."
            )
        if positions is None:
            positions = derive_positions(ids, mask, None if cache is None else cache.stored)
        words = self.embedding(ids)
        x = self.encoding.embed(words, positions)
        if x.shape != words.shape:
            raise ShapeError(f"{self.encoding} turned embeddings of shape {tuple(words.shape)} into {tuple(x.shape)}.")
        caches = repeat(None) if cache is None else cache.layers
        for block, layer_cache in zip(self.blocks, caches, strict=False):
            x = block(x, positions, mask, layer_cache)
        hidden: Tensor = self.norm(x)
        return hidden


def derive_positions(ids: Int[Tensor, "B S"], mask: AttentionMask, stored: KeyValues | None) -> Int64[Tensor, "#B S"]:
    """Each document counts its real tokens from 0, on through what is stored. -> (B, S), or (1, S) when rows agree.

    >>> derive_positions(torch.tensor([[0, 7, 8]]), AttentionMask.of(torch.tensor([[0, 1, 1]])), stored=None)
    tensor([[0, 0, 1]])
    """
    new = ids.shape[1]
    past = 0 if stored is None else stored.length
    whole = mask if stored is None else stored.mask.then(mask, lengths=(past, new))
    if whole.documents is not None:
        padding = torch.iinfo(torch.int64).min
        documents = whole.documents if whole.real is None else whole.documents.where(whole.real, padding)
        return position_ids.after_documents(documents, new, padding_id=padding)
    if whole.real is not None:
        return position_ids.after_mask(whole.real, new)
    return position_ids.after(past, new, device=ids.device)
