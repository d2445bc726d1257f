"""Disentangled attention: DeBERTa, He et al. 2021, arXiv:2006.03654, section 3.1; log buckets as in version 2.

Versions 2 and 3: He, Gao and Chen 2021, arXiv:2111.09543, and the code published with both, microsoft/DeBERTa.
"""

import bisect
import math
from collections.abc import Sequence
from typing import Any, Final, Literal, final, get_args

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn
from torch.nn.functional import layer_norm, linear

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision
from gnomon.kernels.relative import differences, picked, require_heads

Term = Literal["c2p", "p2c"]
TERMS: tuple[Term, ...] = get_args(Term)
INIT_STD: Final = 0.02  #: the spread of fresh weights, as in transformers


@registry.register("deberta")
@final
class DeBERTa(PositionEncoding):
    """The logit of query i and key j gets scale x (q_i·K(r) + k_j·Q(r)), r the row of i - j in a table of distances.

    `terms` says which of the two: "c2p" (content to position) is q·K, "p2c" (position to content) k·Q. K and Q are the
    linear maps `position_key` and `position_query` of `weight`, (2 x span, dim). With n terms `scale` is
    1 / sqrt((1 + n) head_dim), and the product of queries and keys has the same:
    `Attention(..., encoding=encoding, scale=encoding.scale)`.

    Without `buckets`, span is `max_distance` and the row is i - j + span, clipped to 0 .. 2 x span - 1 (version 1).
    With them, span is `buckets`: distances up to buckets / 2 have a row each, longer ones share rows that widen until
    `max_distance` (versions 2 and 3: buckets=256, max_distance=512). Where a row begins is found in whole numbers.
    `norm_eps`: with it a LayerNorm `norm` of that epsilon is applied to the table first (`norm_rel_ebd`).

    Both terms read the row of i - j, as the published code and all checkpoints do; the paper writes that of j - i for
    p2c. In a checkpoint one table, and its norm, serves all layers: assign the first encoding's `weight` and `norm` to
    the others. `share_att_key` is `encoding.position_key = layer.key` and `encoding.position_query = layer.query`.
    Version 1's `pos_proj` has no bias, which is a bias of zero here. There is no dropout on the table.

    >>> encoding = DeBERTa(num_heads=2, head_dim=4, dim=8, max_distance=512, buckets=256)
    >>> q, k = torch.randn(1, 2, 1, 4), torch.randn(1, 2, 6, 4)
    >>> encoding.content_bias(q, k, torch.tensor([[5]]), torch.arange(6)[None]).shape
    torch.Size([1, 2, 1, 6])
    >>> encoding.rows(torch.tensor([[600]]), torch.tensor([[599, 472, 471, 0, 728, 2000]])).tolist()
    [[[257, 384, 385, 511, 128, 0]]]
    """

    relative: bool = True
    learned: bool = True

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        *,
        dim: int,
        max_distance: int = 512,
        buckets: int | None = None,
        terms: Sequence[Term] = TERMS,
        norm_eps: float | None = None,
    ) -> None:
        super().__init__()
        _check((num_heads, head_dim, dim), max_distance, buckets, terms)
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.dim = dim
        self.max_distance = max_distance
        self.buckets = buckets
        self.terms: tuple[Term, ...] = tuple(term for term in TERMS if term in terms)
        self.norm_eps = norm_eps
        #: what queries times keys are multiplied by in the attention that adds this
        self.scale: float = ((1 + len(self.terms)) * head_dim) ** -0.5
        self.span = max_distance if buckets is None else buckets
        #: the first distance of each bucket of one side; empty without buckets
        self.bucket_starts: tuple[int, ...] = () if buckets is None else _bucket_starts(buckets, max_distance)
        self.weight = nn.Parameter(torch.empty(2 * self.span, dim))
        self.norm = None if norm_eps is None else nn.LayerNorm(dim, eps=norm_eps)
        width = num_heads * head_dim
        self.position_key = nn.Linear(dim, width) if "c2p" in self.terms else None
        self.position_query = nn.Linear(dim, width) if "p2c" in self.terms else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw table and projections anew from torch's default generator; biases 0, the norm as it starts."""
        nn.init.normal_(self.weight, std=INIT_STD)
        for projection in (self.position_key, self.position_query):
            if projection is not None:
                nn.init.normal_(projection.weight, std=INIT_STD)
                if projection.bias is not None:
                    nn.init.zeros_(projection.bias)
        if self.norm is not None:
            self.norm.reset_parameters()

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        """As the hook says; computed and returned in float32, or float64 where q is."""
        require_heads(q, k, self.num_heads, self.head_dim)
        rows, dtype = self.rows(query_positions, key_positions), torch.promote_types(q.dtype, torch.float32)
        parts = []
        with full_precision(q.device):
            table = self.table(dtype)
            if self.position_key is not None:
                parts.append(picked(q.to(dtype) @ self._heads(self.position_key, table).mT, rows))
            if self.position_query is not None:
                parts.append(picked(k.to(dtype) @ self._heads(self.position_query, table).mT, rows.mT).mT)
            return self.scale * torch.stack(parts).sum(0)

    def rows(self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]) -> Int64[Tensor, "#B Q K"]:
        """The row of the table for every query and key. (B, Q), (B, K) int64 -> (B, Q, K) int64."""
        require_positions(query_positions)
        require_positions(key_positions)
        distance = differences(query_positions, key_positions)
        if self.bucket_starts:
            starts = torch.tensor(self.bucket_starts[1:], device=distance.device)
            distance = torch.bucketize(distance.abs(), starts, right=True) * distance.sign()
        return (distance + self.span).clamp(0, 2 * self.span - 1)

    def table(self, dtype: torch.dtype = torch.float32) -> Float[Tensor, "rows W"]:
        """`weight`, after its norm if it has one."""
        table = self.weight.to(dtype)
        if self.norm is None:
            return table
        return layer_norm(table, (self.dim,), self.norm.weight.to(dtype), self.norm.bias.to(dtype), self.norm.eps)

    def _heads(self, projection: nn.Linear, table: Float[Tensor, "rows W"]) -> Float[Tensor, "H rows D"]:
        bias = None if projection.bias is None else projection.bias.to(table.dtype)
        projected = linear(table, projection.weight.to(table.dtype), bias)
        return projected.view(-1, self.num_heads, self.head_dim).transpose(0, 1)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {f"position_{side}.{kind}": 0 for side in ("key", "query") for kind in ("weight", "bias")}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "dim": self.dim,
            "max_distance": self.max_distance,
            "buckets": self.buckets,
            "terms": list(self.terms),
            "norm_eps": self.norm_eps,
        }


def _bucket_starts(buckets: int, max_distance: int) -> tuple[int, ...]:
    """Where the buckets 0 .. `buckets` of one side begin: the first d with a logarithm above k, raised to powers.

    >>> _bucket_starts(8, 20)
    (0, 1, 2, 3, 4, 5, 7, 12, 20)
    """
    exact, steps = buckets // 2, buckets // 2 - 1
    bounds = (exact ** (steps - k) * (max_distance - 1) ** k for k in range(steps + 1))
    distances = range(max_distance)
    return (
        *range(exact + 1),
        *(bisect.bisect_right(distances, bound, key=lambda d: d**steps) for bound in bounds),
    )


def _check(sizes: tuple[int, int, int], max_distance: int, buckets: int | None, terms: Sequence[str]) -> None:
    if min(*sizes, max_distance) < 1:
        raise GnomonError(
            f"DeBERTa needs num_heads, head_dim, dim and max_distance of at least 1, got {sizes[0]}, {sizes[1]}, "
            f"{sizes[2]} and {max_distance}."
        )
    if not terms or set(terms) - set(TERMS):
        raise GnomonError(f"The terms of DeBERTa are one or both of {', '.join(TERMS)}, got {list(terms)}.")
    if buckets is not None and (buckets < 4 or buckets % 2 or max_distance < buckets // 2 + 2):
        raise GnomonError(
            f"DeBERTa needs an even number of buckets, at least 4, and a max_distance of at least buckets / 2 + 2; got "
            f"buckets={buckets}, max_distance={max_distance}."
        )


def reference(
    q: Sequence[float],
    k: Sequence[float],
    row: int,
    *,
    table: Sequence[Sequence[float]],
    key: tuple[Sequence[Sequence[float]], Sequence[float]] | None,
    query: tuple[Sequence[Sequence[float]], Sequence[float]] | None,
) -> float:
    """Equation 4 for one head, without the product of contents: (Q_c K_r + K_c Q_r) / sqrt((1 + terms) d).

    `key` and `query` are (weight, bias) of the head's projections, None where the term is off. `table` is normed.
    """

    def term(content: Sequence[float], projection: tuple[Sequence[Sequence[float]], Sequence[float]]) -> float:
        total = 0.0
        for x, weights, bias in zip(content, *projection, strict=True):
            total += x * (bias + sum(w * number for w, number in zip(weights, table[row], strict=True)))
        return total

    parts = [term(content, projection) for content, projection in ((q, key), (k, query)) if projection is not None]
    return sum(parts) / math.sqrt((1 + len(parts)) * len(q))


def reference_row(distance: int, *, max_distance: int, buckets: int | None) -> int:
    """Section 3.1's delta(i, j) for distance = i - j; with buckets the code's log buckets, for which it is clipped."""
    span = max_distance
    if buckets is not None:
        span, half = buckets, buckets // 2
        if abs(distance) > half:
            grown = math.log(abs(distance) / half) / math.log((max_distance - 1) / half) * (half - 1)
            distance = int(math.copysign(half + math.ceil(grown - 1e-9), distance))
    return max(0, min(2 * span - 1, distance + span))
