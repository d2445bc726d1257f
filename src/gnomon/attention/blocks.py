"""Attention with any bias, block by block of queries: memory grows with the length, not with its square."""

from typing import Final

from jaxtyping import Float
from torch import Tensor

from gnomon.attention.call import Call
from gnomon.attention.dense import dense
from gnomon.attention.masks import Sight
from gnomon.attention.recomputed import Extent, recomputed

#: About how many bytes the biases of one block take, with what is needed to compute them.
BUDGET: Final = 1 << 26
#: Bytes for a head, a query and a key: the bias, its copies under the mask, and what it is computed from, in float32.
EACH: Final = 32
#: A network on each pair (FIRE, LogCPB) has that many hidden units or so, however few heads there are.
LEAST_HEADS: Final = 16


def blockwise(call: Call) -> Float[Tensor, "B H Q D"]:
    """The same as `dense`, with no more than a block of biases in memory; one block is `dense` itself.

    Where a gradient is asked for, each block is computed again in the backward pass, as its biases are not kept.
    """
    rows = rows_of_a_block(call)
    if rows >= call.queries:
        return dense(call)
    starts = range(0, call.queries, rows)
    return recomputed(dense, call, [_extent(call, start, min(start + rows, call.queries)) for start in starts])


def rows_of_a_block(call: Call) -> int:
    """How many queries of all rows of the batch are taken at a time."""
    keys = call.keys if call.sight.window is None else min(call.keys, 2 * call.sight.window)
    return max(1, BUDGET // (EACH * keys * max(LEAST_HEADS, call.q.shape[0] * call.q.shape[1])))


def _extent(call: Call, start: int, end: int) -> Extent:
    return (start, end, *seen_slots(call.sight, call.first + start, call.first + end, call.keys))


def seen_slots(sight: Sight, start: int, end: int, keys: int) -> tuple[int, int]:
    """The first slot, and the one after the last, that the slots start .. end - 1 can see.

    >>> seen_slots(Sight(causal=True, window=3), 4, 6, 9), seen_slots(Sight(causal=False), 4, 6, 9)
    ((2, 6), (0, 9))
    """
    least, greatest = sight.reach
    return (
        0 if least is None else max(0, start + least),
        keys if greatest is None else min(keys, end + greatest),
    )
