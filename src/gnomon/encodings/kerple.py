"""Kernelized relative positions (KERPLE): Chi et al. 2022, arXiv:2205.09921, and the code published with it."""

import math
from typing import Any, Final, Literal, final, get_args

import torch
from jaxtyping import Float, Float32, Int64
from torch import Tensor, nn

from gnomon.encodings.base import registry
from gnomon.encodings.score_bias import DistanceBias, per_head
from gnomon.errors import GnomonError

Form = Literal["log", "power"]
SMALLEST: Final = 0.01  #: what the published code clamps p and a to, from below
LARGEST_POWER: Final = 2.0  #: beyond it -|d|^p is no kernel of the paper's kind


@registry.register("kerple")
@final
class KERPLE(DistanceBias):
    """A penalty for distance whose shape every head learns.

    At distance d = |query position - key position|, `form` "log" adds -p ln(1 + a d) and "power" adds -a d^p (ALiBi
    where p = 1). Each head has its own `p` and `a`, (num_heads,) each, drawn from U(0, 2) and U(0, 1). They act as if
    clamped: both from below to 0.01, and the p of a power to 2 from above. A parameter outside gets the gradient of
    the bound it stands for, so that training can bring it back; the published code moves the stored number instead,
    which a forward here never does. Published for causal models. The published code can also multiply the logits by
    exp(-a' d^p'); that is not a bias, and is not here.

    >>> encoding = KERPLE(num_heads=1)
    >>> encoding.load_state_dict({"p": torch.tensor([1.0]), "a": torch.tensor([0.5])})
    <All keys matched successfully>
    >>> encoding.bias(torch.tensor([[4]]), torch.tensor([[0, 2, 4]])).detach()
    tensor([[[[-1.0986, -0.6931, -0.0000]]]])
    """

    learned: bool = True
    causal_only: bool = True

    def __init__(self, num_heads: int, *, form: Form = "log") -> None:
        super().__init__(num_heads)
        if form not in get_args(Form):
            raise GnomonError(f"The form of KERPLE is one of {', '.join(get_args(Form))}, got {form!r}.")
        self.form: Form = form
        self.p = nn.Parameter(torch.empty(num_heads))
        self.a = nn.Parameter(torch.empty(num_heads))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw p and a anew from torch's default generator."""
        nn.init.uniform_(self.p, 0.0, 2.0)
        nn.init.uniform_(self.a, 0.0, 1.0)

    def by_distance(self, relative: Int64[Tensor, "*S"]) -> Float32[Tensor, "H *S"]:
        distance = relative.abs().float()
        a = per_head(_bounded(self.a, None), distance)
        if self.form == "log":
            return -per_head(_bounded(self.p, None), distance) * torch.log1p(a * distance)
        return -a * distance.pow(per_head(_bounded(self.p, LARGEST_POWER), distance))

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"p": 0, "a": 0}

    @property
    def options(self) -> dict[str, Any]:
        return {"num_heads": self.num_heads, "form": self.form}


def _bounded(parameter: Float[Tensor, " H"], largest: float | None) -> Float32[Tensor, " H"]:
    """The clamped value in float32, with the gradient of a parameter that lies on the bound."""
    value = parameter.float()
    return value.detach().clamp(SMALLEST, largest) + (value - value.detach())


def reference(query_position: int, key_position: int, *, p: float, a: float, form: str) -> float:
    """The power and the logarithmic variant of the paper for one head, with the bounds of the published code."""
    distance = abs(query_position - key_position)
    a = max(a, 0.01)
    if form == "log":
        return -max(p, 0.01) * math.log(1.0 + a * distance)
    return -a * math.pow(distance, min(max(p, 0.01), 2.0))
