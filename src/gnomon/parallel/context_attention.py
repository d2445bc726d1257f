"""Attention over rows that are spread over ranks: each rank has its queries, and fetches all keys and values.

Which ranks hold which tokens: see `gnomon.positions.shard`. Gathering the keys is how Llama 3 was trained on long
contexts: Grattafiori et al. 2024, arXiv:2407.21783, section 3.3.2.
"""

from collections.abc import Iterator, Sequence
from typing import final

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from gnomon.attention import Attention, AttentionMask, KeyValues
from gnomon.attention.call import Call
from gnomon.attention.paths import attend
from gnomon.attention.slots import position_of_each
from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError
from gnomon.kernels.given import require
from gnomon.parallel.context import ContextParallel

OPEN = AttentionMask()
BLOCK = 1024  #: round-robin queries at a time, so that masks and biases take memory for so many rows only


@final
class ContextParallelAttention(nn.Module):
    """An `Attention` whose rows are spread over ranks. What it gives, put together, is what the attention gives.

    It holds the attention itself, whose weights it shares. Each rank passes its share of x, positions and mask, made by
    `ContextParallel.shard`; all ranks pass the same kinds of mask. Who may attend whom is decided by the slots of whole
    rows: causal masks, windows, padding and packed documents that go over several ranks are right in each scheme.

    All ranks hold the keys and values of whole rows while a layer runs: twice batch x key heads x length x head_dim
    numbers, and they are kept for the backward pass. Contiguous and zigzag shares take the same paths as attention on
    whole rows, without a matrix where there is none; round-robin ones hold mask and bias of 1024 queries at a time.
    Gradients of the weights are this rank's part of the sum over all tokens: see `sum_gradients`.

    An encoding that is `length_dependent` is refused with a GnomonError: fix it with `at_length`.
    """

    def __init__(self, attention: Attention, parallel: ContextParallel) -> None:
        super().__init__()
        require(attention, Attention, "Rows are spread for a gnomon.attention.Attention")
        require(parallel, ContextParallel, "How rows are spread is a gnomon.parallel.ContextParallel(...)")
        if attention.encoding.length_dependent:
            raise GnomonError(
                f"{attention.encoding} turns each query by its own length, which ranks do not see; fix the length, "
                f"encoding.at_length(...), before rows are spread over ranks."
            )
        self.attention = attention
        self.parallel = parallel

    @property
    def encoding(self) -> PositionEncoding:
        """The encoding of the attention."""
        return self.attention.encoding

    def forward(
        self,
        x: Float[Tensor, "B S W"],
        positions: Int[Tensor, "#B S *axes"],
        mask: AttentionMask = OPEN,
        cache: None = None,
    ) -> Float[Tensor, "B S W"]:
        """Shares (B, S, W), (B, S) or (1, S) -> (B, S, W). There is no cache of spread rows."""
        if cache is not None:
            raise GnomonError("Rows that are spread over ranks have no cache; decode with the attention itself.")
        batch, share, _ = x.shape
        own, whole = self.attention, self.parallel.whole
        own_positions = position_of_each(positions, batch, share, axes=own.encoding.axes)
        mask.check(batch, share)
        q, k, v = (
            project(x).reshape(batch, share, -1, own.head_dim).transpose(1, 2)
            for project in (own.query, own.key, own.value)
        )
        q, k = own.encoding.rotate(q, k, positions)
        every = whole(positions)
        context = KeyValues(
            whole(k, dim=2),
            whole(v, dim=2),
            position_of_each(every, batch, every.shape[1], axes=own.encoding.axes),
            mask.each(whole),
        )
        heads = torch.cat(list(self._runs(q, own_positions, mask, context)), dim=2)
        mixed: Tensor = own.output(heads.transpose(1, 2).reshape(batch, share, -1))
        return mixed

    def _runs(
        self, q: Float[Tensor, "B H Q D"], positions: Int[Tensor, "B Q *axes"], mask: AttentionMask, context: KeyValues
    ) -> Iterator[Float[Tensor, "B H _ D"]]:
        """Run by run of queries, with the keys up to the last that one of them may see."""
        own, slots = self.attention, self.parallel.slots(context.length)
        for start, end in runs(slots.tolist()):
            first, last = int(slots[start]), int(slots[end - 1])
            seen = context.first(last + 1) if own.causal else context
            queries = (q[:, :, start:end], positions[:, start:end], mask.slots(start, end))
            scattered = None if last - first == end - start - 1 else slots[start:end].to(q.device)
            yield attend(Call(own.encoding, *queries, seen, first, own.sight, own.scale, scattered))


def runs(slots: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges of a rank's tokens to be done together: slots that follow one another, or up to `BLOCK` of others.

    >>> list(runs([0, 1, 6, 7])), list(runs([1, 3, 5, 7]))
    ([(0, 2), (2, 4)], [(0, 4)])
    """
    step = slots[1] - slots[0] if len(slots) > 1 else 1
    start = 0
    for end in range(1, len(slots) + 1):
        full = step > 1 and end - start == BLOCK
        if end == len(slots) or full or slots[end] - slots[end - 1] != step:
            yield start, end
            start = end
