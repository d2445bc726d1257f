"""Relative positions of Transformer-XL: Dai et al. 2019, arXiv:1901.02860, section 3.3. XLNet's are the same.

XLNet: Yang et al. 2019, arXiv:1906.08237, appendix A.
"""

import math
from typing import Any, final

import torch
from jaxtyping import Float, Int, Int64
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.sinusoidal import Sinusoidal
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision
from gnomon.kernels.readable import readable
from gnomon.kernels.relative import differences, distinct, picked, require_heads, sinusoid_products
from gnomon.kernels.relative_shift.terms import RelativeTerms

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
        with full_precision(q.device):
            by_key = (k.to(dtype) * u[:, None]).sum(-1)[:, :, None]
            asked = q.to(dtype) + v[:, None]
            if torch.compiler.is_compiling():
                return self.scale * (by_key + self._traced(asked, query_positions, key_positions))
            distances, index = distinct(self._clamped(differences(query_positions, key_positions)))
            vectors = self.vectors(distances, dtype=dtype)
            return self.scale * (by_key + picked(asked @ vectors.permute(1, 2, 0), index))

    def vectors(self, distances: Int64[Tensor, " N"], *, dtype: torch.dtype = torch.float32) -> Float[Tensor, "N H D"]:
        """W R(p) for each distance p, query position - key position. (N,) int64 -> (N, H, D).

        The sines of -p are those of p with the other sign, so each size of a distance is projected once.
        """
        if not readable(distances):
            return self._projected(self.sinusoid.table(distances, dtype=dtype))
        sizes, index = distances.abs().unique(return_inverse=True)
        tables = self.sinusoid.table(sizes, dtype=dtype).chunk(2, dim=-1)
        weights = self.projection.weight.to(dtype).chunk(2, dim=-1)
        by_sin, by_cos = ((x @ weight.mT).index_select(0, index) for x, weight in zip(tables, weights, strict=True))
        joined = by_cos + distances.sign()[:, None] * by_sin
        return joined.view(len(distances), self.num_heads, self.head_dim)

    def _projected(self, table: Float[Tensor, "N W"]) -> Float[Tensor, "N H D"]:
        projected = nn.functional.linear(table, self.projection.weight.to(table.dtype))
        heads: Tensor = projected.view(len(table), self.num_heads, self.head_dim)
        return heads

    def relative_terms(self, relative: Int64[Tensor, " N"], *, dtype: torch.dtype = torch.float32) -> RelativeTerms:
        """The vectors are W R(-relative), clamped."""
        require_positions(relative)
        with full_precision(relative.device):
            vectors = self.vectors(self._clamped(-relative), dtype=dtype).transpose(0, 1)
        u, v = self.content_bias_vector.to(dtype), self.position_bias_vector.to(dtype)
        return RelativeTerms(vectors, query_vector=v, key_vector=u, scale=self.scale)

    def _traced(
        self, asked: Float[Tensor, "B H Q D"], query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float[Tensor, "B H Q K"]:
        """(q + v) · W R(i - j) in a graph, where no position can be read and no branch taken in Python.

        Distances within a range of 2 (Q + K), as those of slots, padded rows and packed ones are, come from a table of
        that range, which begins at the least of them. Others come from the sinusoids of both places, which takes
        num_heads times as long.
        """
        distances = self._clamped(differences(query_positions, key_positions))
        if self.clamp_length is None:
            least, room = distances.min(), 2 * (asked.shape[2] + key_positions.shape[1])
        else:
            least, room = torch.full_like(distances[0, 0, 0], -self.clamp_length), 2 * self.clamp_length + 1
        index = (distances - least).clamp(max=room - 1)
        places = (least + torch.arange(room, device=distances.device), query_positions, key_positions)
        tables = [self.sinusoid.table(place, dtype=asked.dtype) for place in places]

        if self.clamp_length is not None:
            return self._from_table(asked, index, *tables)
        together, ways = distances.max() - least < room, (self._from_table, self._from_places)
        scores: Tensor = torch.cond(together, *ways, (asked, index, *tables))
        return scores

    def _from_table(
        self, asked: Tensor, index: Int64[Tensor, "#B Q K"], table: Tensor, at_query: Tensor, at_key: Tensor
    ) -> Float[Tensor, "B H Q K"]:
        """(q + v) · W R of the rows of the table that the index names."""
        return picked(asked @ self._projected(table).permute(1, 2, 0), index)

    def _from_places(
        self, asked: Tensor, index: Tensor, table: Tensor, at_query: Float[Tensor, "#B Q W"], at_key: Tensor
    ) -> Float[Tensor, "B H Q K"]:
        """(q + v) · W R of the differences of places."""
        weight = self.projection.weight.to(asked.dtype).view(self.num_heads, self.head_dim, -1)
        return sinusoid_products(asked @ weight, at_query, at_key)

    def _clamped(self, distance: Int64[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        return distance if self.clamp_length is None else distance.clamp(-self.clamp_length, self.clamp_length)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"projection.weight": 0, "content_bias_vector": 0, "position_bias_vector": 0}

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
