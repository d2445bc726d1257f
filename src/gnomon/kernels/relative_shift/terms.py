"""Logits that a query and a distance decide, plus what a key alone decides, as vectors."""

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor


@final
@dataclass(frozen=True, eq=False)
class RelativeTerms:
    """What is added to logits: scale x ((q + query_vector) · vectors[n] + key_vector · k), n the number of a distance.

    `vectors` are those of N distances, of all heads if the first size is 1. The vectors of the query and the key are
    one for each head; None is zero. All are float32 or better, and results are.

    >>> terms = RelativeTerms(torch.tensor([[[1.0, 0.0], [0.0, 2.0]]]), None, torch.ones(1, 2), scale=0.5)
    >>> terms.by_distance(torch.tensor([[[[3.0, 4.0]]]])), terms.by_key(torch.tensor([[[[3.0, 4.0]]]]))
    (tensor([[[[1.5000, 4.0000]]]]), tensor([[[3.5000]]]))
    """

    vectors: Float[Tensor, "#H N D"]
    query_vector: Float[Tensor, "H D"] | None
    key_vector: Float[Tensor, "H D"] | None
    scale: float

    def asked(self, q: Float[Tensor, "B H Q D"]) -> Float[Tensor, "B H Q D"]:
        """What is multiplied with the vectors of distances: scale x (q + query_vector)."""
        q = q.to(self.vectors.dtype)
        return self.scale * (q if self.query_vector is None else q + self.query_vector[:, None])

    def by_distance(self, q: Float[Tensor, "B H Q D"]) -> Float[Tensor, "B H Q N"]:
        """The part that a query and each distance decide."""
        return self.asked(q) @ self.vectors.mT

    def by_key(self, k: Float[Tensor, "B H K D"]) -> Float[Tensor, "B H K"] | None:
        """The part that a key alone decides; None where there is none."""
        if self.key_vector is None:
            return None
        return self.scale * torch.einsum("bhkd,hd->bhk", k.to(self.vectors.dtype), self.key_vector)
