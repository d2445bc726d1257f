"""A causal language model that takes any position encoding."""

from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention import AttentionMask, Cache
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.models.options import ModelOptions
from gnomon.models.stack import Stack


@final
class Decoder(nn.Module):
    """Pre-norm causal Transformer with a head tied to the token embeddings; one encoding for all layers, or one each.

    >>> from gnomon.encodings import Rotary
    >>> model = Decoder(ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4), encoding=Rotary(8))
    >>> ids = torch.tensor([[3, 1, 4, 1, 5]])
    >>> model(ids).shape
    torch.Size([1, 5, 50])

    Decoding step by step gives what one pass gives:

    >>> cache = model.new_cache()
    >>> steps = [model(ids[:, i : i + 1], cache=cache) for i in range(5)]
    >>> torch.allclose(torch.cat(steps, dim=1), model(ids), atol=1e-5)
    True
    """

    def __init__(self, options: ModelOptions, *, encoding: PositionEncoding | Sequence[PositionEncoding]) -> None:
        super().__init__()
        self.stack = Stack(options, encoding=encoding, causal=True)

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of all layers; raises GnomonError when they have several."""
        return self.stack.encoding

    def new_cache(self) -> Cache:
        """An empty cache of the right depth."""
        return Cache(len(self.stack.blocks))

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        *,
        attention_mask: Tensor | None = None,
        positions: Int[Tensor, "#B S *axes"] | None = None,
        documents: Int[Tensor, "B S"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "B S V"]:
        """(B, S) int64 -> logits (B, S, vocabulary).

        `attention_mask` (B, S): 1 for a token, 0 for padding, on either side. `documents` (B, S): one id for each
        packed document; documents do not see each other. Both describe the ids passed, the cache knows earlier ones.
        `positions` (B, S) or (1, S) int64: by default each document counts its real tokens from 0, on from the cache.
        Raises ShapeError when a mask, a table or a cache does not fit, PositionError for positions no encoding has.
        """
        mask = AttentionMask.of(attention_mask, documents)
        return self.stack.embedding.logits(self.stack(ids, mask, positions, cache))

    @torch.no_grad()
    def generate(
        self, ids: Int[Tensor, "B S"], *, steps: int, attention_mask: Tensor | None = None
    ) -> Int[Tensor, "B T"]:
        """Append the most likely token `steps` times: (B, S) -> (B, S + steps). Rows are padded on the left."""
        if attention_mask is not None and not bool(attention_mask[:, -1].bool().all()):
            raise GnomonError("Generation continues from the last slot, which is padding in some row; pad on the left.")
        cache = self.new_cache()
        logits = self(ids, attention_mask=attention_mask, cache=cache)
        for step in range(steps):
            latest = logits[:, -1:].argmax(-1)
            ids = torch.cat((ids, latest), dim=1)
            if step < steps - 1:
                logits = self(latest, cache=cache)
        return ids
