"""T5's relative position bias: Raffel et al. 2020, arXiv:1910.10683, section 2.1, and the code published with it."""

import bisect
import math
from typing import Any, Literal, final, get_args

import torch
from jaxtyping import Float32, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.score_bias import DistanceBias
from gnomon.errors import GnomonError

Direction = Literal["both", "causal"]
#: The spread of a fresh table, as in Megatron; transformers draws with 1 / sqrt(width of the model).
INIT_STD = 0.02


@registry.register("t5")
@final
class T5Bias(DistanceBias):
    """A learned number for each head and each bucket of distances; buckets widen with distance.

    Let r = key position - query position. `direction`: "both" gives half of the buckets to r > 0 and half to r <= 0
    (T5's encoder); "causal" gives all of them to r <= 0 (its decoder), and every later key the bucket of distance 0,
    so it needs a causal mask. With n buckets for one side and e = n // 2, a distance d below e has bucket d, and
    others have e + floor(ln(d / e) / ln(max_distance / e) * (n - e)), at most n - 1. From `max_distance` on, all
    distances share the last bucket. Where each bucket begins is worked out in whole numbers, so that no rounding of
    a logarithm can move it; the float32 code of transformers has the same buckets for all usual sizes.

    `weight` is (num_buckets, num_heads), as in a T5 checkpoint's `relative_attention_bias.weight`. Shared or not is
    which module a layer is given: T5 and MPNet give one T5Bias to all layers of a stack (the encoder one, the decoder
    another), and its gradient is the sum over them; UMT5 gives each layer its own. Attention to another sequence has
    none. T5 does not divide q·k by sqrt(head_dim): `gnomon.attention.Attention(..., scale=1.0)`.

    >>> encoding = T5Bias(num_heads=2)
    >>> encoding.bias(torch.tensor([[3]]), torch.tensor([[1, 3, 4]])).shape
    torch.Size([1, 2, 1, 3])
    >>> encoding.buckets(torch.tensor([[200]]), torch.tensor([[0, 180, 199, 200, 201, 220, 400]]))
    tensor([[[15, 10,  1,  0, 17, 26, 31]]])
    """

    learned: bool = True

    def __init__(
        self, num_heads: int, *, num_buckets: int = 32, max_distance: int = 128, direction: Direction = "both"
    ) -> None:
        super().__init__(num_heads)
        _check(num_buckets, max_distance, direction)
        self.num_buckets = num_buckets
        self.max_distance = max_distance
        self.direction: Direction = direction
        self.causal_only: bool = direction == "causal"
        side = num_buckets // 2 if direction == "both" else num_buckets
        #: the first distance of each bucket of one side; a bucket that starts where the next one does is empty
        self.bucket_starts: tuple[int, ...] = _bucket_starts(side, max_distance)
        self.weight = nn.Parameter(torch.empty(num_buckets, num_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the table anew from torch's default generator."""
        nn.init.normal_(self.weight, std=INIT_STD)

    def buckets(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Int64[Tensor, "#B Q K"]:
        """The row of the table for every query and key. (B, Q), (B, K) int64 -> (B, Q, K) int64."""
        require_positions(query_positions)
        require_positions(key_positions)
        return self._buckets(key_positions[:, None, :] - query_positions[:, :, None])

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        return nn.functional.embedding(self._buckets(relative), self.weight.float()).movedim(-1, 0)

    def _buckets(self, relative: Int64[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        starts = torch.tensor(self.bucket_starts[1:], dtype=torch.int64, device=relative.device)
        if self.direction == "causal":
            return torch.bucketize((-relative).clamp_min(0), starts, right=True)
        later = (relative > 0) * (self.num_buckets // 2)
        return torch.bucketize(relative.abs(), starts, right=True) + later

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"weight": 1}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "num_buckets": self.num_buckets,
            "max_distance": self.max_distance,
            "direction": self.direction,
        }


def _bucket_starts(count: int, max_distance: int) -> tuple[int, ...]:
    """Where `count` buckets begin. Both sides of d >= e (max / e)^(k / steps) are raised to the power of steps.

    >>> _bucket_starts(16, 128)
    (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)
    """
    exact, steps = count // 2, count - count // 2
    bounds = (exact ** (steps - k) * max_distance**k for k in range(steps))
    distances = range(max_distance + 1)
    return (*range(exact), *(bisect.bisect_left(distances, bound, key=lambda d: d**steps) for bound in bounds))


def _check(num_buckets: int, max_distance: int, direction: Direction) -> None:
    if direction not in get_args(Direction):
        raise GnomonError(f"The direction of T5Bias is one of {', '.join(get_args(Direction))}, got {direction!r}.")
    if direction == "both" and (num_buckets < 4 or num_buckets % 2):
        raise GnomonError(f"T5Bias in both directions needs an even num_buckets of at least 4, got {num_buckets}.")
    if num_buckets < 2:
        raise GnomonError(f"T5Bias needs num_buckets of at least 2, got {num_buckets}.")
    exact = num_buckets // (4 if direction == "both" else 2)
    if max_distance <= exact:
        raise GnomonError(
            f"With num_buckets={num_buckets} T5Bias has a bucket for each distance below {exact}, so max_distance must "
            f"be at least {exact + 1}, got {max_distance}."
        )


def reference(
    head: int,
    query_position: int,
    key_position: int,
    *,
    table: list[list[float]],
    max_distance: int,
    direction: str,
) -> float:
    """Section 2.1: a scalar for each head, looked up by the bucket of the offset."""
    return table[reference_bucket(key_position - query_position, len(table), max_distance, direction)][head]


def reference_bucket(offset: int, num_buckets: int, max_distance: int, direction: str) -> int:
    """The rule of the code published with the paper, for offset = key position - query position."""
    first, count = 0, num_buckets
    if direction == "both":
        count = num_buckets // 2
        first = count if offset > 0 else 0
        distance = abs(offset)
    else:
        distance = max(-offset, 0)
    exact = count // 2
    if distance < exact:
        return first + distance
    grown = math.log(distance / exact) / math.log(max_distance / exact) * (count - exact)
    return first + min(count - 1, exact + math.floor(grown))
