"""Attention with linear biases (ALiBi): Press et al. 2022, arXiv:2108.12409, section 3."""

import math
from typing import Any, ClassVar, Literal, final, get_args

import torch
from jaxtyping import Float32, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError

Form = Literal["symmetric", "causal"]


@registry.register("alibi")
@final
class ALiBi(PositionEncoding):
    """A penalty that grows linearly with distance, with another slope for each head.

    `form`: "symmetric" adds -slope * |i - j| for query i and key j, right under any mask. "causal" adds +slope * j:
    that differs by slope * i, one number for a whole row of logits, which the softmax cancels when no key lies after
    its query (so a causal mask is needed, and is not part of the bias). The causal form is a view of one row in memory.
    Far out use the symmetric form: in float32 the causal bias near position 10^6 is exact to about 0.03 only.

    Slopes for a power of two H are 2^(-8 h / H), h = 1 .. H. Otherwise they are those of the next smaller power c, and
    then every other slope of 2 c, so they are not sorted. They are kept in float32 whatever the model's dtype.

    >>> ALiBi(num_heads=2).bias(torch.tensor([[3]]), torch.tensor([[1, 3, 4]]))
    tensor([[[[-0.1250, -0.0000, -0.0625]],
    <BLANKLINE>
             [[-0.0078, -0.0000, -0.0039]]]])
    """

    relative: ClassVar[bool] = True

    def __init__(self, num_heads: int, *, form: Form = "symmetric") -> None:
        super().__init__()
        if num_heads < 1:
            raise GnomonError(f"ALiBi needs at least 1 head, got num_heads={num_heads}.")
        if form not in get_args(Form):
            raise GnomonError(f"The form of ALiBi is one of {', '.join(get_args(Form))}, got {form!r}.")
        self.num_heads = num_heads
        self.form: Form = form
        self.causal_only: bool = form == "causal"

    @property
    def slopes(self) -> tuple[float, ...]:
        """One slope for each head, in the published order."""
        power = 1 << (self.num_heads.bit_length() - 1)
        doubled = [2.0 ** (-4 * h / power) for h in range(1, 2 * power + 1)]
        return tuple((doubled[1::2] + doubled[0::2])[: self.num_heads])

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        require_positions(query_positions)
        require_positions(key_positions)
        slopes = torch.tensor(self.slopes, dtype=torch.float32, device=key_positions.device)[:, None, None]
        queries, keys = query_positions[:, None, :, None], key_positions[:, None, None, :]
        if self.form == "causal":
            rows = torch.broadcast_shapes(queries.shape[:1], keys.shape[:1])[0]
            return (slopes * keys).expand(rows, -1, queries.shape[-2], -1)
        return -slopes * (queries - keys).abs()

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads, "form": self.form}


def reference(head: int, query_position: int, key_position: int, num_heads: int) -> float:
    """Section 3, with heads counted from 0: minus the slope of the head times the distance."""
    return -reference_slope(head, num_heads) * abs(query_position - key_position)


def reference_slope(head: int, num_heads: int) -> float:
    """A geometric sequence from 2^(-8/n) with that ratio; footnote 3's rule when n is not a power of two."""
    closest = 1
    while closest * 2 <= num_heads:
        closest *= 2
    if head < closest:
        return math.pow(math.pow(2.0, -8.0 / closest), head + 1)
    return math.pow(math.pow(2.0, -8.0 / (2 * closest)), 2 * (head - closest) + 1)
