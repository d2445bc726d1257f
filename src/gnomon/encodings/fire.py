"""Functional interpolation for relative positions (FIRE): Li et al. 2024, arXiv:2310.04418.

Widths, starting values, taking c and the threshold by size, and the small number in the denominator are as in the code
of McLeish et al. 2024, arXiv:2405.17399.
"""

import math
from collections.abc import Sequence
from typing import Any, Final, final

import torch
from jaxtyping import Float32, Int
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.score_bias import ScoreBias
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision

EPSILON: Final = 1e-6  #: keeps the denominator from zero when training drives c or the threshold there


@registry.register("fire")
@final
class FIRE(ScoreBias):
    """A small network reads the distance, on a log scale and as a share of the query's own position.

    Query m and key n get f(psi(|m - n|) / (psi(max(m, T)) + 1e-6)) with psi(x) = ln(1 + |c| x). f is a network with one
    hidden layer of `hidden_dim` ReLU units and one output for each head: the linear maps `hidden` and `output`.
    `c` starts at `initial_c`. T is |multiplier| x `threshold`, and `multiplier` starts at 1. c and the multiplier are
    learned, and taken by their size, so that neither acts as negative.

    The denominator is the position of the query: the share stays within 0 .. 1 at any length, but a shift of all
    positions changes the bias, so they must count from the start of each document and skip padding on the left, as
    those of `gnomon.positions` do. Defined for keys up to the query. A network for each query and key has no smaller
    form: `score_mod` holds the dense numbers.

    >>> encoding = FIRE(num_heads=2, threshold=16)
    >>> encoding.bias(torch.tensor([[30, 31]]), torch.arange(32)[None]).shape
    torch.Size([1, 2, 2, 32])
    """

    learned: bool = True
    causal_only: bool = True

    def __init__(
        self, num_heads: int, *, hidden_dim: int = 32, threshold: float = 512.0, initial_c: float = 0.1
    ) -> None:
        super().__init__(num_heads)
        if hidden_dim < 1:
            raise GnomonError(f"FIRE needs a hidden_dim of at least 1, got {hidden_dim}.")
        if not (0 < threshold < math.inf and 0 < initial_c < math.inf):
            raise GnomonError(f"FIRE needs threshold and initial_c above 0, got {threshold} and {initial_c}.")
        self.hidden_dim = hidden_dim
        self.threshold = float(threshold)
        self.initial_c = float(initial_c)
        self.c = nn.Parameter(torch.empty(1))  # FSDP2 shards no parameter without a dimension
        self.multiplier = nn.Parameter(torch.empty(1))
        self.hidden = nn.Linear(1, hidden_dim)
        self.output = nn.Linear(hidden_dim, num_heads)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set c and the multiplier to where they start, and draw the network anew from torch's default generator."""
        nn.init.constant_(self.c, self.initial_c)
        nn.init.ones_(self.multiplier)
        self.hidden.reset_parameters()
        self.output.reset_parameters()

    def bias(
        self, query_positions: Int[Tensor, "#B Q"], key_positions: Int[Tensor, "#B K"]
    ) -> Float32[Tensor, "#B H Q K"]:
        require_positions(query_positions)
        require_positions(key_positions)
        distance = (query_positions[:, :, None] - key_positions[:, None, :]).abs().float()
        least = self.multiplier.float().abs() * self.threshold
        span = torch.maximum(query_positions.float(), least)[:, :, None]
        share = self._psi(distance) / (self._psi(span) + EPSILON)
        with full_precision(share.device):
            hidden = relu(linear(share[..., None], self.hidden.weight.float(), self.hidden.bias.float()))
            return linear(hidden, self.output.weight.float(), self.output.bias.float()).permute(0, 3, 1, 2)

    def _psi(self, x: Float32[Tensor, "*S"]) -> Float32[Tensor, "*S"]:
        return torch.log1p(self.c.float().abs() * x)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"output.weight": 0, "output.bias": 0}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "hidden_dim": self.hidden_dim,
            "threshold": self.threshold,
            "initial_c": self.initial_c,
        }


def reference(
    query_position: int,
    key_position: int,
    *,
    c: float,
    threshold: float,
    first: Sequence[tuple[float, float]],
    second: Sequence[float],
    last: float,
) -> float:
    """One head of FIRE: the log distance over the log position, through the network.

    `threshold` is the learned T. `first` has (weight, bias) of each hidden unit, `second` the weights of this head's
    output, `last` its bias.
    """
    distance = math.log(c * abs(query_position - key_position) + 1.0)
    share = distance / (math.log(c * max(query_position, threshold) + 1.0) + 1e-6)
    hidden = [max(weight * share + bias, 0.0) for weight, bias in first]
    return sum(w * unit for w, unit in zip(second, hidden, strict=True)) + last
