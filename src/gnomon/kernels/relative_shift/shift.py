"""Where queries stand among keys, which keys they reach, and the blocks in which they are taken."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float, Int64
from torch import Tensor

from gnomon.errors import GnomonError


@final
@dataclass(frozen=True)
class Shift:
    """Query i stands in slot offset + i, key j in slot j, and positions count slots: the distance is j - offset - i.

    A query reaches `before` slots before its own and `after` slots after it; None is all. A causal mask is after=0, a
    causal window of w is before=w - 1 with it; one of w to both sides is w // 2 for each. `block`: how many queries are
    taken at a time.

    >>> shift = Shift(queries=3, keys=5, offset=2, after=0, block=2)
    >>> shift.distances(torch.device("cpu"))
    tensor([-4, -3, -2, -1,  0,  1])
    >>> [(block.rows, block.keys) for block in shift.blocks()]
    [(slice(0, 2, None), slice(0, 4, None)), (slice(2, 3, None), slice(0, 5, None))]
    """

    queries: int
    keys: int
    offset: int = 0
    before: int | None = None
    after: int | None = None
    block: int = 128

    def __post_init__(self) -> None:
        if min(self.queries, self.keys, self.block) < 1:
            raise GnomonError(
                f"A shift needs at least 1 query, 1 key and 1 query in a block, got {self.queries}, {self.keys} and "
                f"{self.block}."
            )
        bounds = [bound for bound in (self.before, self.after) if bound is not None]
        if min(bounds, default=0) < 0:
            raise GnomonError(f"A query reaches 0 slots or more to each side, got {self.before} and {self.after}.")
        if bounds and not 0 <= self.offset <= self.keys - self.queries:
            raise GnomonError(
                f"Queries that do not reach everything stand among the {self.keys} keys, got {self.queries} queries "
                f"from slot {self.offset} on; the first may stand in slots 0 to {self.keys - self.queries}."
            )

    @property
    def first(self) -> int:
        """The least distance, key - query, that a block meets."""
        least = -(self.offset + self.queries - 1)
        return least if self.before is None else max(least, -self.before - self._most_apart)

    @property
    def last(self) -> int:
        """The largest distance that a block meets."""
        most = self.keys - 1 - self.offset
        return most if self.after is None else min(most, self.after + self._most_apart)

    @property
    def _most_apart(self) -> int:
        """The slots between the first and the last query of a block, whose keys the others do not reach."""
        return min(self.block, self.queries) - 1

    def distances(self, device: torch.device) -> Int64[Tensor, " N"]:
        """All distances, key slot - query slot, that blocks meet, rising: those whose vectors the attention needs."""
        return torch.arange(self.first, self.last + 1, device=device)

    def blocks(self) -> Iterator["Block"]:
        """The blocks of queries, from the first on."""
        for start in range(0, self.queries, self.block):
            end = min(start + self.block, self.queries)
            low = 0 if self.before is None else max(0, start + self.offset - self.before)
            high = self.keys if self.after is None else min(self.keys, end + self.offset + self.after)
            yield Block(self, slice(start, end), slice(low, high))


@final
@dataclass(frozen=True)
class Block:
    """The queries `rows` and all `keys` that some of them reach."""

    shift: Shift
    rows: slice
    keys: slice

    @property
    def size(self) -> tuple[int, int]:
        """How many queries and keys."""
        return self.rows.stop - self.rows.start, self.keys.stop - self.keys.start

    @property
    def span(self) -> slice:
        """The numbers, among `Shift.distances`, of the distances between these queries and keys."""
        queries, keys = self.size
        start = self.keys.start - (self.rows.stop - 1) - self.shift.offset - self.shift.first
        return slice(start, start + queries + keys - 1)

    def shifted(self, scores: Float[Tensor, "groups rows Q N"], batch: int) -> Float[Tensor, "B H Q K"]:
        """The score of each query and key, as a view of those of each query and distance, which lie one by one.

        Groups are one, of all heads of all batch rows, or the heads, each of all batch rows.
        """
        (queries, keys), (groups, rows, _, width) = self.size, scores.shape
        each = queries * width
        heads = rows // batch if groups == 1 else groups
        by_batch, by_head = (heads * each, each) if groups == 1 else (each, batch * each)
        return scores.as_strided(
            (batch, heads, queries, keys), (by_batch, by_head, width - 1, 1), scores.storage_offset() + queries - 1
        )

    def hidden(self, device: torch.device, columns: slice = slice(None)) -> Bool[Tensor, "Q K"]:
        """True where a query does not reach a key of the columns."""
        keys = torch.arange(self.keys.start, self.keys.stop, device=device)[columns]
        slots = self.shift.offset + torch.arange(self.rows.start, self.rows.stop, device=device)[:, None]
        ahead, none = keys - slots, torch.zeros((), dtype=torch.bool, device=device)
        later = none if self.shift.after is None else ahead > self.shift.after
        earlier = none if self.shift.before is None else -ahead > self.shift.before
        return (later | earlier).expand(ahead.shape)

    def edges(self) -> Iterator[slice]:
        """The columns that hold all keys which some query does not reach."""
        _, keys = self.size
        first_slot = self.shift.offset + self.rows.start - self.keys.start
        last_slot = self.shift.offset + self.rows.stop - 1 - self.keys.start
        if self.shift.after is not None and first_slot + self.shift.after + 1 < keys:
            yield slice(first_slot + self.shift.after + 1, keys)
        if self.shift.before is not None and last_slot - self.shift.before > 0:
            yield slice(0, min(keys, last_slot - self.shift.before))
