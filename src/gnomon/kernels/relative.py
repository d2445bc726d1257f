"""Logits from a query and its distance to the key: a number for each distance, and from these the one of each pair."""

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor

from gnomon.errors import ShapeError


def differences(query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]) -> Int64[Tensor, "#B Q K"]:
    """query position - key position for every pair. (B, Q), (B, K) -> (B, Q, K)."""
    return query_positions[:, :, None] - key_positions[:, None, :]


def distinct(values: Int64[Tensor, "B Q K"]) -> tuple[Int64[Tensor, " N"], Int64[Tensor, "B Q K"]]:
    """Numbers among which all `values` are, each once and rising, and where among them each value is.

    All numbers from the least to the largest, which needs no sorting, where positions are close together, as they
    nearly always are; else those that occur.

    >>> distinct(torch.tensor([[[0, 2], [3, 0]]]))
    (tensor([0, 1, 2, 3]), tensor([[[0, 2],
             [3, 0]]]))
    """
    low, high = (int(extreme) for extreme in values.aminmax())
    if high - low >= 4 * sum(values.shape[1:]):
        found, index = values.unique(return_inverse=True)
        return found, index
    return torch.arange(low, high + 1, device=values.device), values - low


def picked(scores: Float[Tensor, "B H Q N"], index: Int64[Tensor, "#B Q K"]) -> Float[Tensor, "B H Q K"]:
    """scores[b, h, q, index[b, q, k]]. (B, H, Q, N), (B, Q, K) -> (B, H, Q, K)."""
    return scores.gather(-1, index[:, None].expand(*scores.shape[:3], index.shape[-1]))


def sinusoid_products(
    x: Float[Tensor, "B H Q W"], at_query: Float[Tensor, "#B Q W"], at_key: Float[Tensor, "#B K W"]
) -> Float[Tensor, "B H Q K"]:
    """x · R(i - j) for R = sines and then cosines of W / 2 angles, from R(i) and R(j) alone: no i - j is needed.

    By sin(i - j) = sin i cos j - cos i sin j and cos(i - j) = cos i cos j + sin i sin j.

    >>> i, j = (torch.tensor([[[angle]]]) for angle in (1.5, 0.5))
    >>> at_query, at_key = (torch.cat((at.sin(), at.cos()), dim=-1) for at in (i, j))
    >>> sinusoid_products(torch.tensor([[[[1.0, 0.0]]]]), at_query, at_key)  # sin 1
    tensor([[[[0.8415]]]])
    """
    sin, cos = at_query[:, None].chunk(2, dim=-1)
    of_sin, of_cos = x.chunk(2, dim=-1)
    turned = torch.cat((of_cos * sin - of_sin * cos, of_sin * sin + of_cos * cos), dim=-1)
    products: Tensor = (turned.flatten(1, 2) @ at_key.mT).unflatten(1, turned.shape[1:3])
    return products


def require_heads(q: Float[Tensor, "B H Q D"], k: Float[Tensor, "B H K D"], num_heads: int, head_dim: int) -> None:
    """Raise ShapeError unless queries and keys have as many heads, of that width, as an encoding is for."""
    for name, x in (("queries", q), ("keys", k)):
        if (x.shape[1], x.shape[3]) != (num_heads, head_dim):
            raise ShapeError(
                f"The encoding is for {num_heads} heads of width {head_dim}, the {name} have {x.shape[1]} of width "
                f"{x.shape[3]}; build it for the heads of the attention, with a key for each query head."
            )
