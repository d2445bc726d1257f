"""Relative segment encoding: Yang et al. 2019, arXiv:1906.08237, section 2.5."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.errors import GnomonError

INIT_STD = 0.02
ALL = slice(None)


@final
@dataclass(frozen=True, eq=False)
class SegmentScores:
    """What each query adds for keys of its own segment, and for keys of others, in each row of a batch."""

    same: Float[Tensor, "B H Q"]
    other: Float[Tensor, "B H Q"]
    query_segments: Int[Tensor, "#B Q"]
    key_segments: Int[Tensor, "#B K"]

    def bias(self, queries: slice = ALL, keys: slice = ALL) -> Float[Tensor, "B H q k"]:
        """What is added to the logits of some queries and keys."""
        return between(queries, keys, self.same, self.other, self.query_segments, self.key_segments)

    @property
    def tensors(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """What `between` takes."""
        return self.same, self.other, self.query_segments, self.key_segments


def between(
    queries: slice,
    keys: slice,
    same: Float[Tensor, "B H Q"],
    other: Float[Tensor, "B H Q"],
    query_segments: Int[Tensor, "#B Q"],
    key_segments: Int[Tensor, "#B K"],
) -> Float[Tensor, "B H q k"]:
    """The numbers of `SegmentScores` for some queries and keys, in rows and columns."""
    differs = query_segments[:, None, queries, None] != key_segments[:, None, None, keys]
    return torch.where(differs, other[:, :, queries, None], same[:, :, queries, None])


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
        return self.scores(q, query_segments, key_segments).bias()

    def scores(
        self,
        q: Float[Tensor, "B H Q D"],
        query_segments: Int[Tensor, "#B Q"],
        key_segments: Int[Tensor, "#B K"],
    ) -> SegmentScores:
        """The same, as two numbers for each query and the segments, from which any part of it is made."""
        dtype = torch.promote_types(q.dtype, torch.float32)
        asked = (q.to(dtype) + self.query_vector.to(dtype)[:, None]) * q.shape[-1] ** -0.5
        same, other = (torch.einsum("bhqd,hd->bhq", asked, each.to(dtype)) for each in self.vectors)
        return SegmentScores(same, other, query_segments, key_segments)
