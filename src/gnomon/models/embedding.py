"""Token ids to vectors of the model's width, and back to logits with the same table."""

import math
from typing import final

from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.models.options import EmbeddingOptions


@final
class TokenEmbedding(nn.Module):
    """Look up, project to the model's width when the table is narrower, scale. Positions are added after this.

    The table starts with standard deviation 1 / sqrt(its width), so that tied logits start with variance 1, and so do
    embeddings under `scale="sqrt_dim"`.

    >>> import torch
    >>> embed = TokenEmbedding(100, 32, EmbeddingOptions(scale="sqrt_dim", width=8))
    >>> x = embed(torch.tensor([[3, 7]]))
    >>> x.shape, embed.logits(x).shape
    (torch.Size([1, 2, 32]), torch.Size([1, 2, 100]))
    """

    def __init__(self, vocabulary: int, dim: int, options: EmbeddingOptions) -> None:
        super().__init__()
        width = options.width or dim
        self.scale = {"none": 1.0, "sqrt_dim": math.sqrt(dim), "dim": float(dim)}[options.scale]
        self.words = nn.Embedding(vocabulary, width)
        self.projection = nn.Linear(width, dim, bias=False) if width != dim else nn.Identity()
        nn.init.normal_(self.words.weight, std=width**-0.5)

    def forward(self, ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S W"]:
        """(B, S) int64 -> (B, S, W)."""
        x: Tensor = self.projection(self.words(ids)) * self.scale
        return x

    def logits(self, x: Float[Tensor, "B S W"]) -> Float[Tensor, "B S V"]:
        """(B, S, W) -> (B, S, vocabulary): the same table and projection, turned round; no scale."""
        if isinstance(self.projection, nn.Linear):
            x = x @ self.projection.weight
        return x @ self.words.weight.mT
