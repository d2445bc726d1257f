"""Two-stream attention: Yang et al. 2019 (XLNet), arXiv:1906.08237, section 2.3 and appendix A.

XLNet predicts each token from those before it in a random order. To do so it must know where the token stands, but not
what it is, while later tokens must see what it is. One vector cannot do both, so each token has two:

| stream  | starts as              | stands at        | sees                                           |
|---------|------------------------|------------------|------------------------------------------------|
| content | the word embedding     | each token       | memory, what comes before it in the order, itself |
| query   | one vector for all     | each target      | memory, what comes before it in the order          |

Keys and values come from [memory; content] for both, through the same weights. Shapes, batch first:

| name             | shape        | what                                                                       |
|------------------|--------------|----------------------------------------------------------------------------|
| content          | (B, S, W)    | one vector for each of the S tokens of the segment                         |
| query            | (B, P, W)    | one vector for each of the P predictions; P = S without a target_mapping   |
| memory           | (B, M, W)    | what went into this layer for the M tokens before; it gets no gradient     |
| positions        | (1 or B, M + S) | int64, memory first; the distances alone matter to `TransformerXL`      |
| perm_mask        | (B, S, S)    | 1 where token i must not see token j                                       |
| target_mapping   | (B, P, S)    | a 1 where prediction p is for token i                                      |
| attention_mask   | (B, S)       | 0 for padding; (B, M + S) hides slots of memory too                        |
| segments         | (B, S)       | ids; (B, M + S) when the memory's are not 0                                |
"""

import math
from collections.abc import Sequence
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from gnomon.attention.segments import SegmentBias
from gnomon.attention.stream_attention import Stream, attend
from gnomon.attention.streams import StreamView, TwoStreamViews
from gnomon.encodings.base import PositionEncoding, require_positions
from gnomon.errors import GnomonError, ShapeError


@final
class TwoStreamAttention(nn.Module):
    """Attention of a content stream and a query stream over the same keys and values.

    It calls the hooks of any encoding for each stream at the stream's own positions; XLNet's is `TransformerXL`, built
    for this width. `segments` adds the term for the relation of segments. `query`, `key`, `value` and `output` are
    linear maps, with a bias if `projection_bias`. Residuals and norms are for the block around it.

    A query that sees nothing (the first of the order, without context or memory) gets zeros from the heads. In other
    code its logits are all about -1e30, so that it gets the mean of all values, its own among them: it is told the
    answer. Hidden keys have no weight at all here, in half precision too.

    Where two rows of a target_mapping name one token, each is a query of its own.

    >>> from gnomon.attention import TwoStreamMasks
    >>> from gnomon.encodings import TransformerXL
    >>> layer = TwoStreamAttention(8, num_heads=2, encoding=TransformerXL(2, 4, dim=8))
    >>> masks = TwoStreamMasks(perm_mask=torch.eye(3)[None], target_mapping=torch.eye(3)[None, :2])
    >>> content, query = layer(torch.randn(1, 3, 8), torch.randn(1, 2, 8), masks.views(1, torch.arange(3)[None]))
    >>> content.shape, query.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 2, 8]))
    """

    def __init__(
        self,
        dim: int,
        *,
        num_heads: int,
        encoding: PositionEncoding,
        segments: SegmentBias | None = None,
        projection_bias: bool = False,
    ) -> None:
        super().__init__()
        if min(dim, num_heads) < 1 or dim % num_heads:
            raise ShapeError(f"dim must be a multiple of num_heads, got dim={dim}, num_heads={num_heads}.")
        if encoding.length_dependent:
            raise GnomonError(
                f"{encoding} turns keys by the length that each query sees, which differs from query to query here; "
                f"choose an encoding that does not depend on the length."
            )
        self.num_heads = num_heads
        self.head_dim = dim // num_heads
        self.encoding = encoding
        self.segments = segments
        self.query, self.key, self.value, self.output = (nn.Linear(dim, dim, bias=projection_bias) for _ in range(4))

    def forward(
        self,
        content: Float[Tensor, "B S W"],
        query: Float[Tensor, "B P W"] | None,
        views: TwoStreamViews,
        memory: Float[Tensor, "B M W"] | None = None,
    ) -> tuple[Float[Tensor, "B S W"], Float[Tensor, "B P W"] | None]:
        """(B, S, W), (B, P, W) -> the same shapes. `query` None runs the content stream alone."""
        self._check(content, query, views, memory)
        told = content if memory is None else torch.cat((memory.detach(), content), dim=1)
        k = self.encoding.rotate_key(self._split(self.key(told)), views.key_positions)
        v = self._split(self.value(told))
        mixed = self._attend(content, k, v, views.content, views)
        return mixed, None if query is None else self._attend(query, k, v, views.query, views)

    def _attend(
        self,
        x: Float[Tensor, "B N W"],
        k: Float[Tensor, "B H K D"],
        v: Float[Tensor, "B H K D"],
        view: StreamView,
        views: TwoStreamViews,
    ) -> Float[Tensor, "B N W"]:
        unturned = self._split(self.query(x))
        q = self.encoding.rotate_query(unturned, view.positions)
        segments = None
        if self.segments is not None and view.segments is not None and views.key_segments is not None:
            segments = self.segments.scores(unturned, view.segments, views.key_segments)
        stream = Stream(q, k, v, view.positions, views.key_positions, view.visible, segments)
        heads = attend(self.encoding, stream, scale=self.head_dim**-0.5)
        mixed: Tensor = self.output(heads.transpose(1, 2).flatten(2))
        return mixed

    def _split(self, x: Float[Tensor, "B N W"]) -> Float[Tensor, "B H N D"]:
        heads: Tensor = x.reshape(*x.shape[:2], self.num_heads, self.head_dim)
        return heads.transpose(1, 2)

    def _check(self, content: Tensor, query: Tensor | None, views: TwoStreamViews, memory: Tensor | None) -> None:
        require_positions(views.key_positions, axes=self.encoding.axes)
        if self.encoding.causal_only and not views.causal:
            raise GnomonError(f"{self.encoding} is right under a causal mask only; pass views of a causal sight.")
        if views.key_segments is not None and self.segments is None:
            raise GnomonError("Segments were given to a layer that was built without; pass segments=SegmentBias(...).")
        given = (content.shape[1], content.shape[1] + (0 if memory is None else memory.shape[1]))
        if given != tuple(views.content.visible.shape[2:]):
            raise ShapeError(
                f"The views are for (tokens, memory and tokens) = {tuple(views.content.visible.shape[2:])}, this call "
                f"has {given}; build them with the length of the memory that is passed."
            )
        if query is not None and query.shape[1] != views.query.visible.shape[2]:
            raise ShapeError(
                f"There are {query.shape[1]} queries for {views.query.visible.shape[2]} predictions; pass one vector "
                f"for each row of the target_mapping."
            )


def reference(
    q: Sequence[float],
    keys: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    *,
    relative: Sequence[Sequence[float]],
    segments: Sequence[Sequence[float]],
    biases: tuple[Sequence[float], Sequence[float], Sequence[float]],
    seen: Sequence[int],
) -> list[float]:
    """One head of either stream for one query, from sections 2.3, 2.5 and appendix A.3, in plain floats.

    Logit of key j: (q·k_j + q·r_j + u·k_j + v·r_j + (q + b)·s_j) / sqrt(d); weights are the softmax over the keys that
    are `seen`: z_<=t for the content stream, z_<t for the query stream. `relative` has r_j = W R(i - j), `segments`
    has s_j, `biases` are u, v and b. Nothing seen gives zeros.
    """
    u, v, b = biases
    logits = {}
    for j in seen:
        by_content = sum((a + c) * k for a, c, k in zip(q, u, keys[j], strict=True))
        by_distance = sum((a + c) * r for a, c, r in zip(q, v, relative[j], strict=True))
        by_segment = sum((a + c) * s for a, c, s in zip(q, b, segments[j], strict=True))
        logits[j] = (by_content + by_distance + by_segment) / math.sqrt(len(q))
    top = max(logits.values(), default=0.0)
    weights = {j: math.exp(logit - top) for j, logit in logits.items()}
    total = sum(weights.values())
    return [sum(weights[j] * values[j][d] for j in seen) / total if seen else 0.0 for d in range(len(q))]
