"""One pre-norm Transformer block; Xiong et al. 2020, arXiv:2002.04745."""

from typing import final

from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention import Attention, AttentionMask, LayerCache


@final
class Block(nn.Module):
    """x + attention(norm(x)), then x + feed_forward(norm(x)).

    >>> import torch
    >>> from gnomon.encodings import NoPE
    >>> block = Block(Attention(32, num_heads=4, encoding=NoPE(), causal=True), dim=32)
    >>> block(torch.randn(2, 5, 32), torch.arange(5)[None], AttentionMask()).shape
    torch.Size([2, 5, 32])
    """

    def __init__(self, attention: Attention, *, dim: int) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(dim)
        self.feed_forward = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.feed_forward_norm = nn.LayerNorm(dim)

    def forward(
        self,
        x: Float[Tensor, "B S W"],
        positions: Int[Tensor, "#B S *axes"],
        mask: AttentionMask,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S, W) -> (B, S, W)."""
        x = x + self.attention(self.attention_norm(x), positions, mask, cache)
        mixed: Tensor = x + self.feed_forward(self.feed_forward_norm(x))
        return mixed
