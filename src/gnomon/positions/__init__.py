"""Position ids: the one place that turns masks, lengths, documents, caches, grids and ranks into int64 numbers.

Every function returns int64, counts from 0, and never guesses: what it cannot read is a `PositionError`. The joins are
here too, because each pair is a place where models go wrong: padding with a cache (`after_mask`), padding with packing
(`from_documents(..., padding_id=...)`), packing with a cache (`after_documents`, `after_lengths`), packing with grids
(`from_grids`), text with images and a cache (`from_segments`, `after_segments`), anything with ranks (`shard`).

>>> import torch
>>> from_mask(torch.tensor([[0, 0, 1, 1], [1, 1, 1, 0]]))
tensor([[0, 0, 0, 1],
        [0, 1, 2, 0]])
>>> after(3, 2)
tensor([[3, 4]])
>>> grid(1, 2)
tensor([[[0, 0],
         [0, 1]]])
"""

from gnomon.positions.cache import after
from gnomon.positions.drawing import randomized
from gnomon.positions.grids import documents_from_grids, from_grids, grid
from gnomon.positions.multimodal import Segment, after_segments, from_segments
from gnomon.positions.packing import (
    after_documents,
    after_lengths,
    documents_from_lengths,
    from_documents,
    from_lengths,
)
from gnomon.positions.padding import after_mask, from_mask, real_tokens
from gnomon.positions.sharding import Scheme, shard, shard_index, unshard

__all__ = [
    "Scheme",
    "Segment",
    "after",
    "after_documents",
    "after_lengths",
    "after_mask",
    "after_segments",
    "documents_from_grids",
    "documents_from_lengths",
    "from_documents",
    "from_grids",
    "from_lengths",
    "from_mask",
    "from_segments",
    "grid",
    "randomized",
    "real_tokens",
    "shard",
    "shard_index",
    "unshard",
]
