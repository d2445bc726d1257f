"""Relative positions of Transformer-XL: Dai et al. 2019, arXiv:1901.02860, section 3.3. XLNet's are the same.

XLNet: Yang et al. 2019, arXiv:1906.08237, appendix A.
"""

import math
from typing import Any, final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.score_bias import full_precision
from gnomon.encodings.sinusoidal import Sinusoidal
from gnomon.errors import GnomonError
from gnomon.kernels.relative import differences, distinct, picked, require_heads

#: The spread of fresh weights, as in the code published with XLNet.
INIT_STD = 0.02


@registry.register("transformer_xl")
@final
class TransformerXL(PositionEncoding):
    """Logits gain (u · k + (q + v) · W R(i - j)) / sqrt(head_dim) for query i and key j.

    R(p) is the sinusoid of a distance p, sines first and then cosines, `dim` numbers wide (the width of the model), and
    `projection` is W: one vector of width head_dim for each head. u (`content_bias_vector`) and v
    (`position_bias_vector`) are a vector for each head: how much a query attends to a key, or to a distance, whatever
    the query is. Both, and the projection, are learned, and stand in each layer.

    Positions are explicit, so memory of earlier segments, packed rows and caches need nothing special: only distances
    enter. Keys after the query have negative distances, as in XLNet; Transformer-XL is causal and has none.
    `clamp_length` gives all distances above it, on either side, the vector of that distance.

    >>> encoding = TransformerXL(num_heads=2, head_dim=4, dim=8)
    >>> q, k = torch.randn(1, 2, 3, 4), torch.randn(1, 2, 5, 4)
    >>> encoding.content_bias(q, k, torch.tensor([[2, 3, 4]]), torch.arange(5)[None]).shape
    torch.Size([1, 2, 3, 5])
    """

    relative: bool = True
    learned: bool = True

    def __init__(
        self, num_heads: int, head_dim: int, *, dim: int, clamp_length: int | None = None, base: float = 10000.0
    ) -> None:
        super().__init__()
        if min(num_heads, head_dim) < 1 or dim < 2 or dim % 2:
            raise GnomonError(
                f"TransformerXL needs num_heads and head_dim of at least 1 and an even dim of at least 2, "
                f"got {num_heads}, {head_dim} and {dim}."
            )
        if clamp_length is not None and clamp_length < 1:
            raise GnomonError(f"clamp_length must be at least 1, or None for no limit, got {clamp_length}.")
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.clamp_length = clamp_length
        #: what queries times keys are multiplied by in the attention that adds this
        self.scale: float = head_dim**-0.5
        self.sinusoid = Sinusoidal(dim, layout="half", base=base)
        self.projection = nn.Linear(dim, num_heads * head_dim, bias=False)
        self.content_bias_vector = nn.Parameter(torch.empty(num_heads, head_dim))
        self.position_bias_vector = nn.Parameter(torch.empty(num_heads, head_dim))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew from torch's default generator."""
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=INIT_STD)

    def content_bias(
        self,
        q: Float[Tensor, "B H Q D"],
        k: Float[Tensor, "B H K D"],
        query_positions: Int[Tensor, "#B Q"],
        key_positions: Int[Tensor, "#B K"],
    ) -> Float[Tensor, "B H Q K"]:
        """What is added to the logits q·k / sqrt(head_dim); float32, or float64 for a float64 q."""
        require_positions(query_positions)
        require_positions(key_positions)
        require_heads(q, k, self.num_heads, self.head_dim)
        dtype = torch.promote_types(q.dtype, torch.float32)
        u, v = self.content_bias_vector.to(dtype), self.position_bias_vector.to(dtype)
        distances, index = distinct(self._clamped(differences(query_positions, key_positions)))
        with full_precision(q.device):
            by_key = (k.to(dtype) * u[:, None]).sum(-1)[:, :, None]
            by_distance = (q.to(dtype) + v[:, None]) @ self.vectors(distances, dtype=dtype).permute(1, 2, 0)
            return self.scale * (by_key + picked(by_distance, index))

    def vectors(self, distances: Int64[Tensor, " N"], *, dtype: torch.dtype = torch.float32) -> Float[Tensor, "N H D"]:
        """W R(p) for each distance p, query position - key position. (N,) int64 -> (N, H, D)."""
        table = self.sinusoid.table(distances, dtype=dtype)
        projected = nn.functional.linear(table, self.projection.weight.to(dtype))
        return projected.view(-1, self.num_heads, self.head_dim)

    def _clamped(self, distance: Int64[Tensor, "B Q K"]) -> Int64[Tensor, "B Q K"]:
        return distance if self.clamp_length is None else distance.clamp(-self.clamp_length, self.clamp_length)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "dim": self.sinusoid.dim,
            "clamp_length": self.clamp_length,
            "base": self.sinusoid.base,
        }


def reference(
    q: list[float],
    k: list[float],
    distance: int,
    *,
    u: list[float],
    v: list[float],
    weight: list[list[float]],
    base: float,
    clamp_length: int | None,
) -> float:
    """Terms (b), (c) and (d) of A^rel in section 3.3 for one head, divided by sqrt(d).

    `weight` has a row for each of the head's components: W_{k,R}. R has the sines of all frequencies, then the cosines.
    """
    if clamp_length is not None:
        distance = max(-clamp_length, min(clamp_length, distance))
    width = len(weight[0])
    angles = [distance / math.pow(base, 2 * i / width) for i in range(width // 2)]
    sinusoid = [math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles]
    turned = [sum(w * r for w, r in zip(row, sinusoid, strict=True)) for row in weight]
    total = sum((q[d] + v[d]) * turned[d] + u[d] * k[d] for d in range(len(q)))
    return total / math.sqrt(len(q))
