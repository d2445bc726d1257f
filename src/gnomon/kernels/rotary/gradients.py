"""The gradient of a rotation: the same rotation the other way. No activation is kept, only the angles."""

from typing import TYPE_CHECKING, Any, final

import torch
from torch import Tensor

from gnomon.kernels.rotary.path import Request
from gnomon.kernels.rotary.turn import Turn
from gnomon.kernels.rotation import Layout

if TYPE_CHECKING:
    from gnomon.kernels.rotary.kernel import Kernel


def _kept(angle: Tensor) -> Tensor:
    """For the backward pass: not what inference mode made (a cached table, say), nor ids that callers count up."""
    return angle if angle.is_floating_point() and not angle.is_inference() else angle.clone()


@final
class Recorded(torch.autograd.Function):
    """Turn vectors by a kernel that autograd cannot see into. Differentiable any number of times."""

    @staticmethod
    def forward(
        ctx: Any, path: "Kernel", layout: Layout, sign: float, angles: tuple[Tensor, ...], *sources: Tensor
    ) -> tuple[Tensor, ...]:
        from gnomon.kernels.rotary.kernel import fresh

        ctx.path, ctx.layout, ctx.sign = path, layout, sign
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*map(_kept, angles))
        results = fresh(path, sources, Turn.of(angles, layout, sign))
        needed = ctx.needs_input_grad[4:]
        ctx.mark_non_differentiable(*(y for y, need in zip(results, needed, strict=True) if not need))
        return results

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        from gnomon.kernels.rotary.choosing import by_table

        turn = Turn.of(ctx.saved_tensors, ctx.layout, -ctx.sign)
        given = tuple(gradient for gradient in gradients if gradient is not None)
        request = Request(given, None, turn)
        path = ctx.path if ctx.path.refusal(request) is None else by_table(request)
        turned = iter(path.turned(given, turn))
        return (None, None, None, None, *(None if gradient is None else next(turned) for gradient in gradients))
