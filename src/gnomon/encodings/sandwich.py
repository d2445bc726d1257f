"""Sandwich: Chi et al. 2023, arXiv:2212.10356."""

import math
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Float32, Float64, Int, Int64
from torch import Tensor

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.heads import checked_part, part_options, require_heads_within
from gnomon.encodings.score_bias import DistanceBias, per_head
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import angles

BASE: Final = 10000.0


@registry.register("sandwich")
@final
class Sandwich(DistanceBias):
    """The similarity of two sinusoidal position vectors as a bias, weaker in each further head; nothing is learned.

    At distance d, head h = 1 .. H adds (sum over i = 1 .. D/2 of cos(d 10000^(-2i/D)) - D/2) / (8h/H): 0 at distance 0
    and negative elsewhere. D is `sinusoid_dim`, even; 128 in the paper, and apart from the width of a head. The sum is
    the dot product of the two vectors, and is computed as one, in float64: no table of distances is kept.
    The paper uses it in causal models; it depends on |d| alone, so it is right under any mask. `part_of`, (first,
    total): the heads are some of a model with H = total, from h = first + 1 on; `for_heads` sets it.

    >>> Sandwich(num_heads=8).bias(torch.tensor([[16]]), torch.tensor([[0, 15]]))[0, 0]
    tensor([[-22.3407,  -1.4466]])
    """

    def __init__(self, num_heads: int, *, sinusoid_dim: int = 128, part_of: Sequence[int] | None = None) -> None:
        super().__init__(num_heads)
        if sinusoid_dim < 2 or sinusoid_dim % 2:
            raise GnomonError(f"Sandwich needs an even sinusoid_dim of at least 2, got {sinusoid_dim}.")
        self.sinusoid_dim = sinusoid_dim
        self.first_head, self.total_heads = checked_part(part_of, num_heads)

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        require_positions(query_positions)
        require_positions(key_positions)
        # All pairs as one matrix product: vectors of all distances would take D numbers for each query and key.
        return self._of(self._vectors(query_positions) @ self._vectors(key_positions).mT).transpose(0, 1)

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        return self._of(self._vectors(relative) @ self._vectors(relative.new_zeros(())))

    def _of(self, alike: Float64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        head = self.first_head + torch.arange(1, self.num_heads + 1, dtype=torch.float64, device=alike.device)
        return ((alike - self.sinusoid_dim / 2) / (8 * per_head(head, alike) / self.total_heads)).float()

    def _vectors(self, positions: Int64[Tensor, "*S"]) -> Float64[Tensor, "*S D"]:
        """Cosines, then sines; the order does not change a dot product."""
        pair = torch.arange(1, self.sinusoid_dim // 2 + 1, dtype=torch.float64, device=positions.device)
        turned = angles(positions, BASE ** (-2 * pair / self.sinusoid_dim), dtype=torch.float64)
        return torch.cat((turned.cos(), turned.sin()), dim=-1)

    def for_heads(self, first: int, count: int) -> "Sandwich":
        require_heads_within(first, count, self.num_heads)
        part_of = (self.first_head + first, self.total_heads)
        return Sandwich(count, sinusoid_dim=self.sinusoid_dim, part_of=part_of)

    @property
    def options(self) -> dict[str, Any]:
        part = part_options(self.first_head, self.num_heads, self.total_heads)
        return {"num_heads": self.num_heads, "sinusoid_dim": self.sinusoid_dim, **part}


def reference(head: int, query_position: int, key_position: int, *, num_heads: int, sinusoid_dim: int) -> float:
    """The inner product of two sinusoids less its value at distance 0, over 8 h / H; heads from 0."""
    distance = query_position - key_position
    total = sum(math.cos(distance / 10000.0 ** (2 * i / sinusoid_dim)) for i in range(1, sinusoid_dim // 2 + 1))
    return (total - sinusoid_dim / 2) / (8 * (head + 1) / num_heads)
