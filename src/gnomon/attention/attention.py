"""Scaled dot-product attention that takes its order from a position encoding; Vaswani et al. 2017, arXiv:1706.03762.

Grouped key heads: Ainslie et al. 2023, arXiv:2305.13245.
"""

import math
from dataclasses import replace
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention.cache import KeyValues, LayerCache
from gnomon.attention.call import Call
from gnomon.attention.lengths import query_lengths, runs
from gnomon.attention.masks import AttentionMask, Sight
from gnomon.attention.paths import attend
from gnomon.attention.slots import position_of_each
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, ShapeError

OPEN = AttentionMask()


@final
class Attention(nn.Module):
    """Multi-head self-attention: softmax(q kᵀ scale + bias + content_bias) v.

    It calls the hooks `rotate_query`, `rotate_key`, `bias` and `content_bias` of any encoding and never asks which one
    it has. Who may attend whom is decided by slots (order in the batch and the cache), padding, documents and `window`;
    positions feed the encoding only.

    `num_key_heads` (default: num_heads) shares each key head among num_heads / num_key_heads query heads. `head_dim` is
    dim / num_heads by default, `scale` 1 / sqrt(head_dim) (T5 uses 1, DeBERTa 1 / sqrt(3 head_dim)). `window`: see
    `Sight`. Weights: `query`, `key`, `value`, `output` are linear maps, with a bias unless `projection_bias` is False.

    What the encoding adds to logits is never held for all queries and keys at once, unless they are few or the caller
    forces it: `gnomon.attention.paths` says which way is taken, and memory grows with the length, in training too.

    An encoding that is `length_dependent` turns each query, and the keys that it sees, by the length of that query.
    Decoding through a cache then equals one pass, at any depth: no token's output depends on what follows it.

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
        head_dim: int | None = None,
        window: int | None = None,
        scale: float | None = None,
        projection_bias: bool = True,
    ) -> None:
        super().__init__()
        key_heads = num_heads if num_key_heads is None else num_key_heads
        _check_sizes(dim, num_heads, key_heads, head_dim)
        if scale is not None and not math.isfinite(scale):
            raise GnomonError(f"The scale of logits must be a finite number, got {scale}.")
        if encoding.causal_only and not causal:
            raise GnomonError(
                f"{encoding} is right under a causal mask only, this attention is bidirectional; "
                f"choose the encoding's symmetric form or causal=True."
            )
        self.num_heads = num_heads
        self.num_key_heads = key_heads
        self.head_dim = dim // num_heads if head_dim is None else head_dim
        self.scale = self.head_dim**-0.5 if scale is None else float(scale)
        self.sight = Sight(causal, window)
        self.encoding = encoding
        self.query = nn.Linear(dim, num_heads * self.head_dim, bias=projection_bias)
        self.key = nn.Linear(dim, key_heads * self.head_dim, bias=projection_bias)
        self.value = nn.Linear(dim, key_heads * self.head_dim, bias=projection_bias)
        self.output = nn.Linear(num_heads * self.head_dim, dim, bias=projection_bias)

    @property
    def causal(self) -> bool:
        """Whether a slot sees no later one."""
        return self.sight.causal

    def forward(
        self,
        x: Float[Tensor, "B S W"],
        positions: Int[Tensor, "#B S *axes"],
        mask: AttentionMask = OPEN,
        cache: LayerCache | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S, W), (B, S) or (1, S) int64 -> (B, S, W); positions with coordinates are (B, S, axes).

        `mask` describes these S tokens. With a cache they follow the tokens stored in it, and join them.
        Raises ShapeError when positions, mask or cache do not fit x, PositionError when positions are not int64.
        """
        if x.ndim != 3 or not x.numel() or x.shape[-1] != self.query.in_features:
            raise ShapeError(
                f"Attention takes x as (batch, tokens, {self.query.in_features}), at least one token, got shape "
                f"{tuple(x.shape)}."
            )
        B, S, _ = x.shape
        given, positions = positions, position_of_each(positions, B, S, axes=self.encoding.axes)
        mask.check(B, S)
        q, k, v = (self._split(project(x)) for project in (self.query, self.key, self.value))
        if not self.encoding.length_dependent:
            q, k = self.encoding.rotate(q, k, given)
        new = KeyValues(k, v, positions, mask)
        context = new if cache is None else cache.append(new)
        if self.encoding.length_dependent:
            heads = self._attend_by_length(q, positions, mask, context)
        else:
            heads = self._attend(q, positions, mask, context, first=context.length - S)
        mixed: Tensor = self.output(heads.transpose(1, 2).reshape(B, S, -1))
        return mixed

    def _split(self, x: Float[Tensor, "B S N"]) -> Float[Tensor, "B H S D"]:
        return x.reshape(*x.shape[:2], -1, self.head_dim).transpose(1, 2)

    def _attend_by_length(
        self, q: Float[Tensor, "B H Q D"], positions: Int[Tensor, "B Q"], mask: AttentionMask, context: KeyValues
    ) -> Float[Tensor, "B H Q D"]:
        """Run by run of queries whose lengths share their rotations, each with all keys that the run may see."""
        first = context.length - q.shape[2]
        lengths = query_lengths(positions, mask, context, self.sight)
        parts = []
        for start, end in runs(self.encoding.regimes(lengths)):
            encoding = self.encoding.at_length(lengths[:, start])
            seen = context.first(first + end) if self.causal else context
            seen = replace(seen, keys=encoding.rotate_key(seen.keys, seen.positions))
            here = positions[:, start:end]
            turned = encoding.rotate_query(q[:, :, start:end], here)
            parts.append(self._attend(turned, here, mask.slots(start, end), seen, first=first + start))
        return torch.cat(parts, dim=2)

    def _attend(
        self,
        q: Float[Tensor, "B H Q D"],
        positions: Int[Tensor, "B Q *axes"],
        mask: AttentionMask,
        context: KeyValues,
        *,
        first: int,
    ) -> Float[Tensor, "B H Q D"]:
        """`first` is the slot of the first query."""
        return attend(Call(self.encoding, q, positions, mask, context, first, self.sight, self.scale))


def _check_sizes(dim: int, num_heads: int, num_key_heads: int, head_dim: int | None) -> None:
    if min(dim, num_heads, num_key_heads, 1 if head_dim is None else head_dim) < 1 or num_heads % num_key_heads:
        raise ShapeError(
            f"Sizes are at least 1 and num_heads is a multiple of num_key_heads; "
            f"got dim={dim}, num_heads={num_heads}, num_key_heads={num_key_heads}, head_dim={head_dim}."
        )
    if head_dim is None and dim % num_heads:
        raise ShapeError(
            f"dim must be a multiple of num_heads unless head_dim is given, got dim={dim}, num_heads={num_heads}."
        )
