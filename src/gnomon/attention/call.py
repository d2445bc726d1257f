"""What every path of attention is given: queries in their slots, what they may see, and the encoding."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self, final

import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from gnomon.attention.cache import KeyValues
from gnomon.attention.masks import AttentionMask, Sight, allowed
from gnomon.encodings.base import PositionEncoding


@final
@dataclass(frozen=True, eq=False)
class Call:
    """Q queries, rotated, in the slots first .. first + Q - 1 of the K slots of `context`, or in `slots`."""

    encoding: PositionEncoding
    q: Float[Tensor, "B H Q D"]
    positions: Int[Tensor, "B Q *axes"]  #: of the queries
    mask: AttentionMask  #: of the queries
    context: KeyValues
    first: int
    sight: Sight
    scale: float
    slots: Int64[Tensor, " Q"] | None = None  #: of queries that do not follow one another, as shards have them

    @property
    def queries(self) -> int:
        return self.q.shape[2]

    @property
    def keys(self) -> int:
        return self.context.length

    @property
    def groups(self) -> int:
        """How many query heads share a key head."""
        return self.q.shape[1] // self.context.keys.shape[1]

    @property
    def logits(self) -> int:
        """How many logits there are for all heads and rows."""
        return self.q.shape[0] * self.q.shape[1] * self.queries * self.keys

    @property
    def sees_all_before(self) -> bool:
        """Whether each query sees the slots up to its own and no other, and there is one for each slot."""
        one_each = self.slots is None and self.queries == self.keys
        return self.sight == Sight(causal=True) and self.context.mask.is_open and one_each

    def visible(self) -> Bool[Tensor, "#B 1 Q K"] | None:
        """True where a query may attend a key; None when all may."""
        return allowed(
            self.mask,
            self.context.mask,
            lengths=(self.queries, self.keys),
            sight=self.sight,
            device=self.q.device,
            first=self.first,
            slots=self.slots,
        )

    def heads(self) -> tuple[Float[Tensor, "B H K D"], Float[Tensor, "B H K D"]]:
        """Keys and values for each query head."""
        return self.per_query_head(self.context.keys), self.per_query_head(self.context.values)

    def per_query_head(self, x: Float[Tensor, "B G S D"]) -> Float[Tensor, "B H S D"]:
        """What key heads have, for each query head: copies where heads share them."""
        return x.repeat_interleave(self.groups, dim=1) if self.groups > 1 else x

    def rows(self, index: Sequence[int]) -> Self:
        """These rows of the batch; itself when they are all, in order."""
        if list(index) == list(range(len(self.q))):
            return self
        chosen = torch.tensor(index, device=self.q.device)
        at = self.positions[chosen]
        return replace(
            self, q=self.q[chosen], positions=at, mask=self.mask.rows(chosen), context=self.context.rows(chosen)
        )

    def part(self, start: int, end: int, *, first_key: int, last_key: int) -> Self:
        """The queries start .. end - 1, which see none but the keys in the slots first_key .. last_key - 1."""
        own = self.context
        keys, values = (x[:, :, first_key:last_key] for x in (own.keys, own.values))
        seen = KeyValues(keys, values, own.positions[:, first_key:last_key], own.mask.slots(first_key, last_key))
        return replace(
            self,
            q=self.q[:, :, start:end],
            positions=self.positions[:, start:end],
            mask=self.mask.slots(start, end),
            context=seen,
            first=self.first + start - first_key,
        )
