"""Relative segment encoding: Yang et al. 2019, arXiv:1906.08237, section 2.5."""

from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.errors import GnomonError

INIT_STD = 0.02


@final
class SegmentBias(nn.Module):
    """Logits gain (q + b) · s / sqrt(head_dim), where s is one vector for a key of the query's own segment, and another
    for a key of any other: which segment it is does not matter, so new ones can follow.

    `query_vector` is b, (H, D); `vectors` is s, (2, H, D), same first.

    >>> layer = SegmentBias(num_heads=2, head_dim=4)
    >>> layer(torch.randn(1, 2, 3, 4), torch.tensor([[0, 0, 1]]), torch.tensor([[0, 0, 0, 1]])).shape
    torch.Size([1, 2, 3, 4])
    """

    def __init__(self, num_heads: int, head_dim: int) -> None:
        super().__init__()
        if min(num_heads, head_dim) < 1:
            raise GnomonError(f"SegmentBias needs sizes of at least 1, got {num_heads} heads of width {head_dim}.")
        self.query_vector = nn.Parameter(torch.empty(num_heads, head_dim))
        self.vectors = nn.Parameter(torch.empty(2, num_heads, head_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew from torch's default generator."""
        nn.init.normal_(self.query_vector, std=INIT_STD)
        nn.init.normal_(self.vectors, std=INIT_STD)

    def forward(
        self,
        q: Float[Tensor, "B H Q D"],
        query_segments: Int[Tensor, "#B Q"],
        key_segments: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        """(B, H, Q, D), (B, Q), (B, K) -> (B, H, Q, K), float32, or float64 for a float64 q."""
        dtype = torch.promote_types(q.dtype, torch.float32)
        asked = q.to(dtype) + self.query_vector.to(dtype)[:, None]
        same, other = (torch.einsum("bhqd,hd->bhq", asked, each.to(dtype))[..., None] for each in self.vectors)
        differs = query_segments[:, None, :, None] != key_segments[:, None, None, :]
        scale: float = q.shape[-1] ** -0.5
        return torch.where(differs, other, same) * scale
