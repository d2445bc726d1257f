"""A bidirectional encoder that takes any position encoding."""

from collections.abc import Sequence
from typing import final

from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention import AttentionMask
from gnomon.encodings.base import PositionEncoding
from gnomon.models.options import ModelOptions
from gnomon.models.stack import Stack


@final
class Encoder(nn.Module):
    """Pre-norm Transformer in which every token sees every other; one encoding for all layers, or one for each.

    >>> import torch
    >>> from gnomon.encodings import Learned
    >>> model = Encoder(ModelOptions(vocabulary=50, dim=32, num_layers=2, num_heads=4), encoding=Learned(16, 32))
    >>> model(torch.tensor([[3, 1, 4, 1, 5]])).shape
    torch.Size([1, 5, 32])
    """

    def __init__(self, options: ModelOptions, *, encoding: PositionEncoding | Sequence[PositionEncoding]) -> None:
        super().__init__()
        self.stack = Stack(options, encoding=encoding, causal=False)

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of all layers; raises GnomonError when they have several."""
        return self.stack.encoding

    def forward(
        self,
        ids: Int[Tensor, "B S"],
        *,
        attention_mask: Tensor | None = None,
        positions: Int[Tensor, "#B S *axes"] | None = None,
        documents: Int[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B S W"]:
        """(B, S) int64 -> hidden states (B, S, W), after the last norm.

        `attention_mask` (B, S): 1 for a token, 0 for padding, on either side. `documents` (B, S): one id for each
        packed document; documents do not see each other. `positions` (B, S) or (1, S) int64: by default each document
        counts its real tokens from 0.
        """
        mask = AttentionMask.of(attention_mask, documents)
        hidden: Tensor = self.stack(ids, mask, positions)
        return hidden
