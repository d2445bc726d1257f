"""XLNet: Yang et al. 2019, arXiv:1906.08237. Two streams, memory over segments, Transformer-XL's relative positions."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon.attention import SegmentBias, Sight, TwoStreamAttention, TwoStreamMasks, TwoStreamViews
from gnomon.encodings import TransformerXL
from gnomon.errors import GnomonError, ShapeError
from gnomon.models.embedding import TokenEmbedding
from gnomon.models.options import EmbeddingOptions
from gnomon.models.xlnet_options import Activation, XLNetOptions

OPEN = TwoStreamMasks()


@final
@dataclass(frozen=True, eq=False)
class XLNetOutput:
    """The last layer's streams, and the memory for the next segment: what went into each layer, without gradient."""

    content: Float[Tensor, "B S W"]
    query: Float[Tensor, "B P W"] | None
    memory: list[Tensor] = field(repr=False)  #: (B, M, W) for each layer

    @property
    def hidden(self) -> Tensor:
        """The query stream when there is one, else the content stream: what predictions are made from."""
        return self.content if self.query is None else self.query


@final
class XLNetLayer(nn.Module):
    """norm(x + attention), then norm(x + feed_forward(x)), on each stream with the same weights."""

    def __init__(self, options: XLNetOptions) -> None:
        super().__init__()
        dim, heads, inner = options.dim, options.num_heads, options.feed_forward_dim
        encoding = TransformerXL(heads, dim // heads, dim=dim, clamp_length=options.clamp_length)
        segments = SegmentBias(heads, dim // heads)
        self.attention = TwoStreamAttention(dim, num_heads=heads, encoding=encoding, segments=segments)
        self.attention_norm = nn.LayerNorm(dim, eps=options.norm_epsilon)
        self.feed_forward = nn.Sequential(nn.Linear(dim, inner), _activation(options.activation), nn.Linear(inner, dim))
        self.feed_forward_norm = nn.LayerNorm(dim, eps=options.norm_epsilon)

    def forward(
        self,
        content: Float[Tensor, "B S W"],
        query: Float[Tensor, "B P W"] | None,
        views: TwoStreamViews,
        memory: Float[Tensor, "B M W"] | None = None,
    ) -> tuple[Float[Tensor, "B S W"], Float[Tensor, "B P W"] | None]:
        """(B, S, W), (B, P, W) -> the same shapes."""
        content_mixed, query_mixed = self.attention(content, query, views, memory)
        after = self._after(content, content_mixed)
        return after, None if query is None else self._after(query, query_mixed)

    def _after(self, x: Float[Tensor, "B N W"], mixed: Float[Tensor, "B N W"]) -> Float[Tensor, "B N W"]:
        x = self.attention_norm(x + mixed)
        out: Tensor = self.feed_forward_norm(x + self.feed_forward(x))
        return out


@final
class XLNet(nn.Module):
    """Word embeddings, layers of two streams, and a head tied to the embeddings, with a bias. Without dropout.

    The query stream runs when there is a `target_mapping`; its predictions are for the tokens named there. Hide each
    target from itself with a `perm_mask` (`gnomon.attention.permutation_mask`): without one it sees what it should
    predict. Memory stands right before the segment, and its slots are counted whether they hold padding or not.

    >>> model = XLNet(XLNetOptions(vocabulary=50, dim=16, num_layers=2, num_heads=2, feed_forward_dim=32))
    >>> ids, target = torch.tensor([[3, 1, 4, 1, 5]]), torch.eye(5)[None, 2:3]
    >>> masks = TwoStreamMasks(perm_mask=target.expand(1, 5, 5), target_mapping=target)
    >>> out = model(ids, masks)
    >>> model.logits(out.hidden).shape
    torch.Size([1, 1, 50])
    >>> model(ids, memory=out.memory).content.shape
    torch.Size([1, 5, 16])
    """

    def __init__(self, options: XLNetOptions) -> None:
        super().__init__()
        self.options = options
        self.embedding = TokenEmbedding(options.vocabulary, options.dim, EmbeddingOptions())
        self.mask_vector = nn.Parameter(torch.empty(options.dim))
        self.layers = nn.ModuleList(XLNetLayer(options) for _ in range(options.num_layers))
        self.head_bias = nn.Parameter(torch.empty(options.vocabulary))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the query stream's first vector anew, as wide as a word's, and set the bias of the head to zero."""
        nn.init.normal_(self.mask_vector, std=self.options.dim**-0.5)
        nn.init.zeros_(self.head_bias)

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        masks: TwoStreamMasks = OPEN,
        *,
        memory: Sequence[Tensor] | None = None,
        positions: Int[Tensor, "#B K"] | None = None,
    ) -> XLNetOutput:
        """(B, S) int64 -> both streams and the memory for the segment after it.

        `memory` is that of the segment before. `positions`, (B, M + S) or (1, M + S) int64, speak of the memory first;
        by default they count all slots from 0, backwards in the second half of the rows of a `mirrored` model.
        """
        M = self._memory_length(memory)
        if positions is None:
            positions = self._positions(ids.shape[0], M + ids.shape[1], ids.device)
        sight = Sight(self.options.causal, M + 1 if self.options.same_length and self.options.causal else None)
        views = masks.views(ids.shape[0], positions, memory_length=M, sight=sight)
        content, query = self.embedding(ids), None
        if masks.target_mapping is not None:
            query = self.mask_vector.expand(ids.shape[0], masks.target_mapping.shape[1], -1)
        kept = []
        for number, layer in enumerate(self.layers):
            before = None if memory is None else memory[number]
            kept.append(self._remember(content, before))
            content, query = layer(content, query, views, before)
        return XLNetOutput(content, query, kept)

    def logits(self, hidden: Float[Tensor, "B N W"]) -> Float[Tensor, "B N V"]:
        """(B, N, W) -> (B, N, vocabulary), from `XLNetOutput.hidden`."""
        return self.embedding.logits(hidden) + self.head_bias

    def _positions(self, batch: int, length: int, device: torch.device) -> Int64[Tensor, "#B K"]:
        forwards = torch.arange(length, device=device)[None]
        if not self.options.mirrored:
            return forwards
        if batch % 2:
            raise ShapeError(
                f"A mirrored model reads half of the rows backwards, got {batch} rows; pass an even number."
            )
        return torch.cat((forwards, -forwards)).repeat_interleave(batch // 2, dim=0)

    def _memory_length(self, memory: Sequence[Tensor] | None) -> int:
        if memory is None:
            return 0
        if len(memory) != len(self.layers):
            raise GnomonError(f"The memory has {len(memory)} layers, the model {len(self.layers)}; pass output.memory.")
        return memory[0].shape[1]

    def _remember(self, content: Float[Tensor, "B S W"], before: Tensor | None) -> Float[Tensor, "B M W"]:
        new = content[:, : self.options.reuse_length].detach()
        whole = new if before is None else torch.cat((before.detach(), new), dim=1)
        return whole if self.options.memory_length is None else whole[:, -self.options.memory_length :]


def _activation(name: Activation) -> nn.Module:
    if name in ("gelu", "gelu_new"):
        return nn.GELU(approximate="tanh" if name == "gelu_new" else "none")
    return nn.ReLU() if name == "relu" else nn.SiLU()
