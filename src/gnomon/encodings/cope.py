"""Contextual position encoding (CoPE): Golovneva et al. 2024, arXiv:2405.18719, section 4, and the code published with
it in facebookresearch/RAM.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision
from gnomon.kernels.relative import differences, require_heads

INIT_STD: Final = 0.02  #: the spread of a fresh table; the published code starts at zero


@registry.register("cope")
@final
class CoPE(PositionEncoding):
    """How far key j is from query i is a count of the keys between them that the query finds worth counting.

    Key t counts g(i, t) = sigmoid(gate_scale x q_i·k_t). The distance p(i, j) is the sum of g(i, t) over the visible
    keys from j to i, both included, and at most `max_positions` - 1. The logit gets scale x q_i·e(p), where e(p) lies
    on the line between the rows of `weight` (max_positions, head_dim) below and above p. All heads share the table;
    counts differ from head to head, as their queries do.

    `scale` and `gate_scale` are 1 / sqrt(head_dim) by default, as in the published code. The listing in the paper's
    appendix, x-transformers, and the option cope_nodiv of the code add q·e undivided: scale=1.

    Hidden keys count nothing, so it must be told which are (`needs_visible`); without being told, all keys up to the
    query are. "Between" goes by position, so the order of slots plays no part; keys at the same position have the same
    count. Needs all q·k at once and twice: no fused attention, and memory for a few times (B, H, Q, K).

    >>> encoding = CoPE(num_heads=2, head_dim=4, max_positions=3)
    >>> q, k, place = torch.randn(1, 2, 1, 4), torch.randn(1, 2, 5, 4), torch.arange(5)[None]
    >>> encoding.content_bias(q, k, place[:, 4:], place).shape
    torch.Size([1, 2, 1, 5])
    >>> encoding.counts(torch.zeros(1, 2, 1, 4), k, place[:, 4:], place)[0, 0]
    tensor([[2.5000, 2.0000, 1.5000, 1.0000, 0.5000]])
    """

    relative: bool = True
    learned: bool = True
    causal_only: bool = True
    needs_visible: bool = True

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        *,
        max_positions: int = 64,
        scale: float | None = None,
        gate_scale: float | None = None,
    ) -> None:
        super().__init__()
        if min(num_heads, head_dim) < 1 or max_positions < 2:
            raise GnomonError(
                f"CoPE needs num_heads and head_dim of at least 1 and max_positions of at least 2, got "
                f"num_heads={num_heads}, head_dim={head_dim}, max_positions={max_positions}."
            )
        for name, value in (("scale", scale), ("gate_scale", gate_scale)):
            if value is not None and not math.isfinite(value):
                raise GnomonError(f"The {name} of CoPE must be a finite number, got {value}.")
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.max_positions = max_positions
        self.scale: float = head_dim**-0.5 if scale is None else float(scale)
        self.gate_scale: float = head_dim**-0.5 if gate_scale is None else float(gate_scale)
        self.weight = nn.Parameter(torch.empty(max_positions, head_dim))
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
        visible: Bool[Tensor, "#B 1 Q K"] | None = None,
    ) -> Float[Tensor, "B H Q K"]:
        """As the hook says; computed and returned in float32, or float64 where q is."""
        with full_precision(q.device):
            count = self.counts(q, k, query_positions, key_positions, visible).clamp_max(self.max_positions - 1)
            by_row = q.to(count.dtype) @ self.weight.to(count.dtype).T
            below, above = count.detach().floor().long(), count.detach().ceil().long()
            share = count - below
            return self.scale * (by_row.gather(-1, above) * share + by_row.gather(-1, below) * (1 - share))

    def counts(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
        visible: Bool[Tensor, "#B 1 Q K"] | None = None,
    ) -> Float[Tensor, "B H Q K"]:
        """The distance of each key, before the limit: the gates of the visible keys from it to the query, summed."""
        require_positions(query_positions)
        require_positions(key_positions)
        require_heads(q, k, self.num_heads, self.head_dim)
        dtype = torch.promote_types(q.dtype, torch.float32)
        counted = (differences(query_positions, key_positions) >= 0)[:, None]
        with full_precision(q.device):
            gates = torch.sigmoid(self.gate_scale * (q.to(dtype) @ k.to(dtype).mT))
            gates = gates * (counted if visible is None else counted & visible)
            return _summed_from(gates, key_positions)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "max_positions": self.max_positions,
            "scale": self.scale,
            "gate_scale": self.gate_scale,
        }


def _summed_from(gates: Float[Tensor, "B H Q K"], positions: Int[Tensor, "#B K"]) -> Float[Tensor, "B H Q K"]:
    """For each key the sum of the gates of all keys at its position or later ones, in whatever order the keys are."""
    ordered, order = positions.sort(dim=-1)
    first = torch.searchsorted(ordered, positions.contiguous())  # of the keys at the same position
    in_order = gates.gather(-1, order[:, None, None, :].expand_as(gates))
    sums = in_order.flip(-1).cumsum(-1).flip(-1)
    return sums.gather(-1, first[:, None, None, :].expand_as(gates))


def reference(
    q: Sequence[float],
    keys: Sequence[Sequence[float]],
    query_position: int,
    key_positions: Sequence[int],
    *,
    table: Sequence[Sequence[float]],
    scale: float,
    gate_scale: float,
) -> list[float]:
    """Section 4, equations 3 to 5, for one query and all keys that it sees; keys after the query count nothing."""

    def dot(a: Sequence[float], b: Sequence[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True))

    gates = [1.0 / (1.0 + math.exp(-gate_scale * dot(q, key))) for key in keys]
    result = []
    for start in key_positions:
        between = [g for g, at in zip(gates, key_positions, strict=True) if start <= at <= query_position]
        place = min(sum(between), len(table) - 1.0)
        low, high = math.floor(place), math.ceil(place)
        result.append(scale * ((place - low) * dot(q, table[high]) + (1.0 - place + low) * dot(q, table[low])))
    return result
