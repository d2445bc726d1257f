"""The way for traced graphs: one operator, `gnomon::rotate`, that the compiler carries whole, with its gradient."""

from typing import Any, final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gnomon.kernels.rotary.kernel import straight
from gnomon.kernels.rotary.path import Path, Request, Vectors
from gnomon.kernels.rotary.turn import Turn, tensors_of
from gnomon.kernels.rotation import Layout

torch.library.define(
    "gnomon::rotate", "(Tensor x, Tensor cos, Tensor sin, Tensor? positions, str layout, float sign) -> Tensor"
)


@final
class Traceable(Path):
    """A call of `torch.ops.gnomon.rotate`, which goes the best way for plain tensors once the graph runs."""

    name = "traceable"

    def refusal(self, request: Request) -> str | None:
        if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_of(request.turn)):
            return "cos or sin requires grad"
        if torch.compiler.is_compiling():
            return None
        if torch._C._are_functorch_transforms_active() or torch.autograd.forward_ad._current_level >= 0:
            return "a transform of torch.func or forward-mode differentiation is active"
        return None

    def turned(self, sources: tuple[Vectors, ...], turn: Turn) -> tuple[Vectors, ...]:
        angles = turn.cos, turn.sin, turn.positions, turn.layout, turn.sign
        return tuple(torch.ops.gnomon.rotate(source, *angles) for source in sources)


@torch.library.impl("gnomon::rotate", "CompositeExplicitAutograd")
def _run(
    x: Float[Tensor, "B H S D"],
    cos: Float[Tensor, "*rows P"],
    sin: Float[Tensor, "*rows P"],
    positions: Int64[Tensor, "#B S"] | None,
    layout: Layout,
    sign: float,
) -> Float[Tensor, "B H S D"]:
    from gnomon.kernels.rotary.choosing import by_table

    with torch.no_grad():
        turn = Turn(cos, sin, positions, layout, sign)
        x = straight(x)
        result = torch.empty_like(x)
        by_table(Request((x,), (result,), turn)).write(((x, result),), turn)
        return result


def _fake(x: Tensor, *rest: Any) -> Tensor:
    return torch.empty_like(straight(x))


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    _, cos, sin, positions, ctx.layout, ctx.sign = inputs
    ctx.save_for_backward(cos, sin, positions)


def _backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    cos, sin, positions = ctx.saved_tensors
    return torch.ops.gnomon.rotate(gradient, cos, sin, positions, ctx.layout, -ctx.sign), None, None, None, None, None


torch.library.register_fake("gnomon::rotate", _fake)
torch.library.register_autograd("gnomon::rotate", _backward, setup_context=_keep)
