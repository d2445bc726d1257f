"""Relative position representations, on the side of keys: Shaw et al. 2018, arXiv:1803.02155, section 3."""

import math
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision
from gnomon.kernels.relative import differences, picked, require_heads
from gnomon.kernels.relative_shift.terms import RelativeTerms

INIT_STD: Final = 0.02  #: the spread of a fresh table, as in transformers


@registry.register("shaw")
@final
class Shaw(PositionEncoding):
    """Query i meets key j as if k_j were k_j + a(j - i): the logit gets scale x q_i·a(j - i), with a learned vector
    for each clipped distance.

    `max_distance`: distances are clipped to -k .. k, or, given as two numbers, to -left .. right (keys before and after
    the query). `weight` has left + right + 1 rows, that of the keys furthest before the query first. `shared_heads`
    gives all heads one table, (rows, head_dim), as in the paper; without it each head has its own, (num_heads, rows,
    head_dim). Each layer has a table in either case. `scale` is 1 / sqrt(head_dim), that of the logits.

    The paper also adds vectors to the values. Hooks act on logits, so that term is not here; the paper's Table 3 found
    that the keys' side alone is as good (BLEU 25.8 both ways). With `max_distance=(64, 8)` this is "relative_key" of
    transformers' Wav2Vec2Bert and SeamlessM4Tv2, and `weight` their `distance_embedding.weight`.

    >>> encoding = Shaw(num_heads=2, head_dim=4, max_distance=(3, 1))
    >>> encoding.weight.shape
    torch.Size([5, 4])
    >>> q, k = torch.randn(1, 2, 1, 4), torch.randn(1, 2, 6, 4)
    >>> encoding.content_bias(q, k, torch.tensor([[5]]), torch.arange(6)[None]).shape
    torch.Size([1, 2, 1, 6])
    """

    relative: bool = True
    learned: bool = True

    def __init__(
        self, num_heads: int, head_dim: int, *, max_distance: int | Sequence[int] = 16, shared_heads: bool = True
    ) -> None:
        super().__init__()
        left, right = (max_distance, max_distance) if isinstance(max_distance, int) else _pair(max_distance)
        if min(num_heads, head_dim) < 1 or min(left, right) < 0 or left + right < 1:
            raise GnomonError(
                f"Shaw needs num_heads and head_dim of at least 1, and two distances of which one is at least 1, got "
                f"num_heads={num_heads}, head_dim={head_dim}, max_distance={max_distance}."
            )
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.max_distance = (left, right)
        self.shared_heads = shared_heads
        #: what queries times keys are multiplied by in the attention that adds this
        self.scale: float = head_dim**-0.5
        self.weight = nn.Parameter(torch.empty(*(() if shared_heads else (num_heads,)), left + right + 1, head_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew from torch's default generator."""
        nn.init.normal_(self.weight, std=INIT_STD)

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        """As the hook says; computed and returned in float32, or float64 where q is. The keys are not read."""
        require_positions(query_positions)
        require_positions(key_positions)
        require_heads(q, k, self.num_heads, self.head_dim)
        left, right = self.max_distance
        dtype = torch.promote_types(q.dtype, torch.float32)
        with full_precision(q.device):
            by_distance = q.to(dtype) @ self.weight.to(dtype).mT
            rows = (-differences(query_positions, key_positions)).clamp(-left, right) + left
            return self.scale * picked(by_distance, rows)

    def relative_terms(self, relative: Int64[Tensor, " N"], *, dtype: torch.dtype = torch.float32) -> RelativeTerms:
        """The vectors are the rows of the table for the clipped distances; keys add nothing of their own."""
        require_positions(relative)
        left, right = self.max_distance
        table = self.weight.to(dtype) if self.weight.ndim == 3 else self.weight.to(dtype)[None]
        vectors = table.index_select(1, relative.clamp(-left, right) + left)
        return RelativeTerms(vectors, query_vector=None, key_vector=None, scale=self.scale)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {} if self.shared_heads else {"weight": 0}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "max_distance": list(self.max_distance),
            "shared_heads": self.shared_heads,
        }


def _pair(max_distance: Sequence[int]) -> tuple[int, int]:
    if len(max_distance) != 2:
        raise GnomonError(f"max_distance is one number or two, before and after the query, got {max_distance}.")
    return max_distance[0], max_distance[1]


def reference(q: Sequence[float], distance: int, *, table: Sequence[Sequence[float]], left: int) -> float:
    """Equations 4 and 5, without the product of query and key: x_i W_Q · a_ij / sqrt(d), a_ij = w of clip(j - i).

    `distance` is j - i. `table` is that of the head: a row for each of -left .. its last distance.
    """
    clipped = max(-left, min(len(table) - 1 - left, distance))
    return sum(a * b for a, b in zip(q, table[clipped + left], strict=True)) / math.sqrt(len(q))
