"""How long the sequence is for each query: what frequencies that depend on the length are chosen by."""

from collections.abc import Iterator

import torch
from jaxtyping import Int, Int64
from torch import Tensor

from gnomon.attention.cache import KeyValues
from gnomon.attention.masks import AttentionMask, Sight, allowed


def query_lengths(
    positions: Int[Tensor, "B Q"], mask: AttentionMask, context: KeyValues, sight: Sight
) -> Int64[Tensor, "B Q"]:
    """The last position that each query may attend, plus 1; under a causal mask that is its own, plus 1."""
    if sight.causal:
        return positions + 1
    lengths = (positions.shape[1], context.length)
    visible = allowed(mask, context.mask, lengths=lengths, sight=Sight(causal=False), device=positions.device)
    keys = context.positions[:, None]
    seen = keys if visible is None else torch.where(visible[:, 0], keys, -1)
    return (seen.amax(-1) + 1).expand_as(positions)


def runs(regimes: Int64[Tensor, "B Q"]) -> Iterator[tuple[int, int]]:
    """Ranges of columns, as long as can be, in which no row changes its regime.

    >>> list(runs(torch.tensor([[0, 0, 0, 7], [0, 0, 7, 7]])))
    [(0, 2), (2, 3), (3, 4)]
    """
    changes = (regimes[:, 1:] != regimes[:, :-1]).any(0).nonzero().flatten() + 1
    ends = [*changes.tolist(), regimes.shape[1]]
    return zip([0, *ends[:-1]], ends, strict=True)
