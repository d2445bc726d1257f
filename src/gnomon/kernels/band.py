"""Queries in slots among keys, taken in blocks with the keys that they reach; numbers by distance as a mask of a block.

With the queries of a block in reverse order, a number that depends on the distance alone is constant along the
diagonals that rise to the right (a Hankel matrix): R rows and C columns are a view of R + C - 1 numbers, in which row
and column both step by one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from gnomon.errors import ShapeError

#: The least and the greatest key slot - query slot that is seen; None: as far as there are slots.
Reach = tuple[int | None, int | None]


def distances(queries: int, keys: int, *, offset: int, reach: Reach = (None, None)) -> range:
    """key slot - query slot of all pairs within reach: those that attention by distance needs a number for.

    Query i stands in the slot i + offset, key j in the slot j.

    >>> distances(2, 5, offset=3, reach=(None, 0))
    range(-4, 1)
    """
    if offset < 0 or queries < 1 or offset + queries > keys:
        raise ShapeError(
            f"Queries stand in slots of the keys, got {queries} of them from slot {offset} on and {keys} keys; pass "
            f"the keys of the queries too."
        )
    least, greatest = reach
    low, high = -(offset + queries - 1), keys - 1 - offset
    return range(low if least is None else max(low, least), (high if greatest is None else min(high, greatest)) + 1)


@final
@dataclass(frozen=True)
class Block:
    """Queries start .. end - 1 with the keys that one of them sees; `place` is where its numbers begin among all."""

    start: int
    end: int
    first_key: int
    last_key: int
    place: int

    @property
    def keys(self) -> slice:
        return slice(self.first_key, self.last_key)

    @property
    def rows(self) -> int:
        """How many queries."""
        return self.end - self.start

    @property
    def width(self) -> int:
        """How many distances there are between its queries and its keys."""
        return self.rows + self.last_key - self.first_key - 1

    @property
    def numbers_at(self) -> slice:
        """Where its numbers are among all."""
        return slice(self.place, self.place + self.width)

    def reversed(self, x: Float[Tensor, "B H Q D"]) -> Float[Tensor, "B H R D"]:
        """The rows of these queries, the last one first."""
        return x[:, :, self.start : self.end].flip(2)

    def numbers(self, padded: Float[Tensor, "h P"]) -> Float[Tensor, "h W"]:
        """Those of the block from the least distance up; the largest visible one of each head is moved to zero."""
        own = padded[:, self.numbers_at]
        return own - own.amax(-1, keepdim=True)

    def mask(self, padded: Float[Tensor, "h P"], dtype: torch.dtype) -> Float[Tensor, "1 h R C"]:
        """A number for each reversed query and each key: a view of `width` numbers."""
        own = self.numbers(padded).to(dtype)
        size = (1, len(own), self.rows, self.last_key - self.first_key)
        return own.as_strided(size, (0, self.width, 1, 1))


@final
@dataclass(frozen=True)
class Band:
    """Which pairs are within reach: `steps` are their key slot - query slot."""

    steps: range
    offset: int
    queries: int
    keys: int

    def widest(self, rows: int) -> int:
        """At most so many keys are seen in a block."""
        return min(self.keys, len(self.steps) + rows - 1)

    def blocks(self, rows: int) -> Iterator[Block]:
        """All queries, up to `rows` at a time. Numbers are padded by rows - 1 on either side."""
        for start in range(0, self.queries, rows):
            end = min(start + rows, self.queries)
            first = max(0, start + self.offset + self.steps.start)
            last = min(self.keys, end - 1 + self.offset + self.steps.stop)
            yield Block(start, end, first, last, first - (end - 1) - self.offset - self.steps.start + rows - 1)

    def padded(self, numbers: Float[Tensor, "h N"], rows: int, dtype: torch.dtype) -> Float[Tensor, "h P"]:
        return pad(numbers.to(dtype), (rows - 1, rows - 1), value=-torch.inf)
