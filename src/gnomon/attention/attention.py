"""Scaled dot-product attention that takes its order from a position encoding; Vaswani et al. 2017, arXiv:1706.03762.

Grouped key heads: Ainslie et al. 2023, arXiv:2305.13245.
"""

from functools import reduce
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from gnomon.attention.cache import KeyValues, LayerCache
from gnomon.attention.masks import AttentionMask, allowed
from gnomon.encodings.base import PositionEncoding, require_positions
from gnomon.errors import GnomonError, ShapeError

OPEN = AttentionMask()


@final
class Attention(nn.Module):
    """Multi-head self-attention: softmax(q kᵀ / sqrt(head_dim) + bias + content_bias) v.

    It calls the hooks `rotate_query`, `rotate_key`, `bias` and `content_bias` of any encoding and never asks which one
    it has. Who may attend whom is decided by slots (order in the batch and the cache), padding and documents; positions
    feed the encoding only.

    `num_key_heads` (default: num_heads) shares each key head among num_heads / num_key_heads query heads.
    Weights: `query`, `key`, `value`, `output` are linear maps, with a bias unless `projection_bias` is False.

    >>> from gnomon.encodings import Rotary
    >>> layer = Attention(32, num_heads=4, num_key_heads=2, encoding=Rotary(8), causal=True)
    >>> layer(torch.randn(2, 5, 32), torch.arange(5)[None]).shape
    torch.Size([2, 5, 32])
    """

    def __init__(
        self,
        dim: int,
        *,
        num_heads: int,
        encoding: PositionEncoding,
        causal: bool,
        num_key_heads: int | None = None,
        projection_bias: bool = True,
    ) -> None:
        super().__init__()
        key_heads = num_heads if num_key_heads is None else num_key_heads
        _check_sizes(dim, num_heads, key_heads)
        if encoding.causal_only and not causal:
            raise GnomonError(
                f"{encoding} is right under a causal mask only, this attention is bidirectional; "
                f"choose the encoding's symmetric form or causal=True."
            )
        self.num_heads = num_heads
        self.num_key_heads = key_heads
        self.head_dim = dim // num_heads
        self.causal = causal
        self.encoding = encoding
        self.query = nn.Linear(dim, dim, bias=projection_bias)
        self.key = nn.Linear(dim, key_heads * self.head_dim, bias=projection_bias)
        self.value = nn.Linear(dim, key_heads * self.head_dim, bias=projection_bias)
        self.output = nn.Linear(dim, dim, bias=projection_bias)

    def forward(
        self,
        x: Float[Tensor, "B S W"],
        positions: Int[Tensor, "#B S"],
        mask: AttentionMask = OPEN,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S, W), (B, S) or (1, S) int64 -> (B, S, W).

        `mask` describes these S tokens. With a cache they follow the tokens stored in it, and join them.
        Raises ShapeError when positions, mask or cache do not fit x, PositionError when positions are not int64.
        """
        B, S, _ = x.shape
        positions = _expand(positions, B, S)
        mask.check(B, S)
        q = self.encoding.rotate_query(self._split(self.query(x)), positions)
        k = self.encoding.rotate_key(self._split(self.key(x)), positions)
        new = KeyValues(k, self._split(self.value(x)), positions, mask)
        context = new if cache is None else cache.append(new)
        heads = self._attend(q, positions, mask, context)
        mixed: Tensor = self.output(heads.transpose(1, 2).reshape(B, S, -1))
        return mixed

    def _split(self, x: Float[Tensor, "B S N"]) -> Float[Tensor, "B H S D"]:
        return x.reshape(*x.shape[:2], -1, self.head_dim).transpose(1, 2)

    def _attend(
        self, q: Float[Tensor, "B H Q D"], positions: Int[Tensor, "B Q"], mask: AttentionMask, context: KeyValues
    ) -> Float[Tensor, "B H Q D"]:
        groups = self.num_heads // self.num_key_heads
        k, v = (_repeat_heads(part, groups) for part in (context.keys, context.values))
        bias = self._bias(q, k, positions, context.positions)
        lengths = (q.shape[2], k.shape[2])
        # is_causal aligns the mask to the top left, which is right only when there are as many queries as keys.
        if self.causal and bias is None and context.mask.is_open and lengths[0] == lengths[1]:
            return scaled_dot_product_attention(q, k, v, is_causal=True)
        visible = allowed(mask, context.mask, lengths=lengths, causal=self.causal, device=q.device)
        return scaled_dot_product_attention(q, k, v, attn_mask=_merge(bias, visible, q.dtype))

    def _bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "B Q"],
        key_positions: Int[Tensor, "B K"],
    ) -> Float[Tensor, "#B H Q K"] | None:
        """The sum of what the two bias hooks give; None when both add nothing."""
        given = (
            self.encoding.bias(query_positions, key_positions),
            self.encoding.content_bias(q, k, query_positions, key_positions),
        )
        parts = [part for part in given if part is not None]
        expected = (self.num_heads, q.shape[2], k.shape[2])
        for part in parts:
            if tuple(part.shape[1:]) != expected or part.shape[0] not in (1, q.shape[0]):
                raise ShapeError(
                    f"{self.encoding} gave a bias of shape {tuple(part.shape)}, attention needs (batch, heads, query, "
                    f"key) = {(q.shape[0], *expected)}; build the encoding for num_heads={self.num_heads}."
                )
        return reduce(torch.add, parts) if parts else None


def _check_sizes(dim: int, num_heads: int, num_key_heads: int) -> None:
    if min(dim, num_heads, num_key_heads) < 1 or dim % num_heads or num_heads % num_key_heads:
        raise ShapeError(
            f"dim must be a multiple of num_heads, and num_heads of num_key_heads; "
            f"got dim={dim}, num_heads={num_heads}, num_key_heads={num_key_heads}."
        )


def _expand(positions: Tensor, batch: int, length: int) -> Tensor:
    """(B, S) or (1, S) -> (B, S), checked."""
    require_positions(positions)
    if tuple(positions.shape) not in {(batch, length), (1, length)}:
        raise ShapeError(
            f"Positions have shape {tuple(positions.shape)}, the tokens (batch, length) = {(batch, length)}; "
            f"pass one id for each token, as (batch, length) or (1, length)."
        )
    return positions.expand(batch, length)


def _repeat_heads(x: Float[Tensor, "B G S D"], groups: int) -> Float[Tensor, "B H S D"]:
    """Each key head `groups` times in a row; a view when there is nothing to repeat."""
    return x.repeat_interleave(groups, dim=1) if groups > 1 else x


def _merge(bias: Tensor | None, visible: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """One mask for the softmax: bool when there is no bias, else the bias in the dtype of q with -inf where hidden.

    The largest number of each row is moved to zero before the cast. The softmax does not see it, and half precision
    keeps its digits for the keys that matter: a causal ALiBi bias of +1000 would lose the difference of neighbours.
    """
    if bias is None:
        return visible
    if visible is not None:
        bias = bias.masked_fill(~visible, -torch.inf)
    return (bias - bias.detach().amax(-1, keepdim=True)).to(dtype)
