"""Log-spaced continuous position bias: Swin v2, Liu et al. 2021, arXiv:2111.09883, section 3.3, and its code."""

import math
from collections.abc import Sequence
from typing import Any, Final, Self, final

import torch
from jaxtyping import Float32
from torch import Tensor, nn
from torch.nn.functional import linear, relu

from gnomon.encodings.base import registry
from gnomon.encodings.score_bias import WindowedBias
from gnomon.errors import GnomonError
from gnomon.kernels.precision import full_precision

REACH: Final = 8.0  #: offsets of the whole window are scaled to this before the logarithm
CEILING: Final = 16.0  #: the bias lies between 0 and this
INIT_STD: Final = 0.02


@registry.register("log_cpb")
@final
class LogCPB(WindowedBias):
    """A small network turns the offset of two places in a window into a bias, so that windows can change size.

    With the offset query - key along an axis of n places, x = 8 offset / (n - 1) and
    c = sign(x) log2(1 + |x|) / log2(8), head h adds 16 sigmoid(network(c)[h]): a number between 0 and 16. The network
    has one hidden layer of `hidden_dim` ReLU units: the linear maps `hidden`, with a bias, and `output`, without one
    (`continuous_position_bias_mlp.0` and `.2` in transformers). `pretrained_window` is the window that the network was
    trained with: a larger window then divides by that size less 1, and asks for offsets a little outside those trained.
    An axis of one place has c = 0.

    The score goes with attention by cosines in Swin v2, whose logits are not divided by sqrt(head_dim). Tokens without
    a place (-1 on all axes) get 0. Coordinates outside the window raise PositionError, as for `WindowBias`.

    >>> encoding = LogCPB(num_heads=2, window=(3, 5), hidden_dim=4)
    >>> encoding.bias(torch.tensor([[[2, 4]]]), torch.tensor([[[0, 0], [2, 4]]])).shape
    torch.Size([1, 2, 1, 2])
    """

    learned: bool = True

    def __init__(
        self,
        num_heads: int,
        *,
        window: Sequence[int],
        pretrained_window: Sequence[int] | None = None,
        hidden_dim: int = 512,
    ) -> None:
        super().__init__(num_heads, window)
        trained = self.grid if pretrained_window is None else tuple(pretrained_window)
        if len(trained) != self.axes or any(was < 2 <= now for was, now in zip(trained, self.grid, strict=True)):
            raise GnomonError(
                f"The pretrained window has an extent of at least 2 for each axis of the window {self.grid}, got "
                f"{trained}."
            )
        if hidden_dim < 1:
            raise GnomonError(f"LogCPB needs a hidden_dim of at least 1, got {hidden_dim}.")
        self.pretrained_window = None if pretrained_window is None else trained
        self.hidden_dim = hidden_dim
        self.hidden = nn.Linear(self.axes, hidden_dim)
        self.output = nn.Linear(hidden_dim, num_heads, bias=False)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the network anew from torch's default generator."""
        for layer in (self.hidden, self.output):
            nn.init.trunc_normal_(layer.weight, std=INIT_STD)
        nn.init.zeros_(self.hidden.bias)

    def coordinates(self, device: torch.device | str | None = None) -> Float32[Tensor, "offsets axes"]:
        """What the network reads: the log-spaced offset along each axis, for every offset in the window."""
        spaced = []
        for extent, trained in zip(self.grid, self.pretrained_window or self.grid, strict=True):
            steps = torch.arange(1 - extent, extent, dtype=torch.float64, device=device)
            scaled = REACH * steps / max(trained - 1, 1)
            spaced.append(scaled.sign() * torch.log2(1 + scaled.abs()) / math.log2(REACH))
        return torch.cartesian_prod(*spaced).float()

    def table(self) -> Float32[Tensor, "H columns"]:
        offsets = self.coordinates(self.hidden.weight.device)
        with full_precision(offsets.device):
            units = relu(linear(offsets, self.hidden.weight.float(), self.hidden.bias.float()))
            columns = CEILING * linear(units, self.output.weight.float()).sigmoid().T
        return torch.cat((columns, columns.new_zeros(self.num_heads, 3)), dim=1)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"output.weight": 0}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "window": list(self.grid),
            "pretrained_window": None if self.pretrained_window is None else list(self.pretrained_window),
            "hidden_dim": self.hidden_dim,
        }

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        return cls(num_heads, window=(8, 8))


def reference(
    query: Sequence[int],
    key: Sequence[int],
    *,
    trained: Sequence[int],
    first: Sequence[tuple[Sequence[float], float]],
    second: Sequence[float],
) -> float:
    """One head of equation 3 with the log spacing of equation 4; the scale, 8 and 16 are those of the published code.

    `trained` is the window whose offsets lie within -8 .. 8. `first` has (weights, bias) of each hidden unit, `second`
    the weights of this head's output.
    """
    if -1 in (*query, *key):
        return 0.0
    inputs = []
    for i, j, extent in zip(query, key, trained, strict=True):
        x = 8.0 * (i - j) / (extent - 1) if i != j else 0.0
        inputs.append(math.copysign(math.log(1.0 + abs(x)) / math.log(8.0), x))
    units = [max(sum(w * x for w, x in zip(weights, inputs, strict=True)) + bias, 0.0) for weights, bias in first]
    return 16.0 / (1.0 + math.exp(-sum(w * unit for w, unit in zip(second, units, strict=True))))
