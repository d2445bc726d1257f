"""The work of the attention benchmarks: queries, keys and values, and exact rows to hold answers against."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from gnomon.bench.rotations import SEED

Answer = Callable[[], Tensor]
#: What is added to the logits of one head, in float64, for some queries and all keys.
Added = Callable[[int, Int64[Tensor, " R"]], Float64[Tensor, "R K"]]
CHECKED = 64  #: so many of the first, the middle and the last queries are held against float64


@dataclass(frozen=True)
class Attending:
    """Sizes of one attention, one row of a batch. `inputs` are normally distributed."""

    heads: int
    length: int
    width: int
    dtype: torch.dtype
    causal: bool

    def __str__(self) -> str:
        return f"H{self.heads} L{self.length} D{self.width}"

    @cached_property
    def inputs(self) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values, (1, H, L, D) each."""
        made = torch.Generator().manual_seed(SEED)
        size = (1, self.heads, self.length, self.width)
        q, k, v = (torch.randn(size, generator=made).to(self.dtype) for _ in range(3))
        return q, k, v

    @property
    def scale(self) -> float:
        return float(self.width**-0.5)

    def error(self, answer: Answer, added: Added) -> float:
        """The largest difference of some rows of an answer, (1, H, L, D), from softmax(q kᵀ scale + added) v."""
        given = answer().detach()
        rows = self._checked()
        worst = 0.0
        for head, (q, k, v) in enumerate(zip(*(x[0].double() for x in self.inputs), strict=True)):
            logits = q[rows] @ k.T * self.scale + added(head, rows)
            if self.causal:
                logits = logits.masked_fill(torch.arange(self.length) > rows[:, None], -torch.inf)
            apart = given[0, head, rows].double() - logits.softmax(-1) @ v
            worst = max(worst, float(apart.abs().max()))
        return worst

    def _checked(self) -> Int64[Tensor, " R"]:
        few = min(CHECKED, self.length)
        starts = (0, (self.length - few) // 2, self.length - few)
        rows: Tensor = torch.cat([torch.arange(start, start + few) for start in starts]).unique()
        return rows


def causal_mask(length: int) -> Float[Tensor, "L L"]:
    """0 where a query sees a key, -inf above the diagonal."""
    mask: Tensor = torch.full((length, length), -torch.inf).triu(1)
    return mask
