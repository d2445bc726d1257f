"""Attention block by block that keeps nothing of a block: its biases are computed again for its gradients.

Like torch.utils.checkpoint on each block, but the gradients of keys and values are added up where they belong. Through
slices each block would make gradients of the full length of its own, which is a matrix again.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from gnomon.attention.call import Call

#: start and end of the queries of a block, first and last slot (exclusive) that they see
Extent = tuple[int, int, int, int]
Attend = Callable[[Call], Tensor]


def recomputed(attend: Attend, call: Call, extents: Sequence[Extent]) -> Float[Tensor, "B H Q D"]:
    """`attend` on each block, with exact gradients for queries, keys, values and the parameters of the encoding."""
    parameters = [parameter for parameter in call.encoding.parameters() if parameter.requires_grad]
    tensors = (call.q, call.context.keys, call.context.values)
    out: Tensor = _Recomputed.apply(attend, call, extents, *tensors, *parameters)  # type: ignore[no-untyped-call]
    return out


@final
class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, attend: Attend, call: Call, extents: Sequence[Extent], *given: Tensor) -> Tensor:
        ctx.attend, ctx.call, ctx.extents = attend, _detached(call), extents
        ctx.save_for_backward(*given)
        kind = call.q.device.type
        ctx.autocast = (kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind))
        return torch.cat([attend(_block(ctx.call, extent)) for extent in extents], dim=2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        saved = ctx.saved_tensors  # sums over many blocks are no task for half precision
        sums = [torch.zeros_like(x, dtype=torch.promote_types(x.dtype, torch.float32)) for x in saved]
        kind, dtype, enabled = ctx.autocast
        for extent in ctx.extents:
            start, end, first, last = extent
            with torch.enable_grad(), torch.autocast(kind, dtype=dtype, enabled=enabled):
                block, leaves = _with_leaves(_block(ctx.call, extent))
                out = ctx.attend(block)
            inputs = [*leaves, *saved[3:]]
            found = torch.autograd.grad(out, inputs, grad[:, :, start:end], allow_unused=True)
            of_slots = zip(sums[:3], (slice(start, end), slice(first, last), slice(first, last)), strict=True)
            totals = [total[:, :, place] for total, place in of_slots] + sums[3:]
            for total, part in zip(totals, found, strict=True):
                if part is not None:
                    total.add_(part)
        return None, None, None, *(total.to(x.dtype) for total, x in zip(sums, saved, strict=True))


def _block(call: Call, extent: Extent) -> Call:
    start, end, first, last = extent
    return call.part(start, end, first_key=first, last_key=last)


def _with_leaves(call: Call) -> tuple[Call, list[Tensor]]:
    """The call on queries, keys and values that gradients are asked for, and these."""
    q, k, v = (x.detach().requires_grad_() for x in (call.q, call.context.keys, call.context.values))
    return replace(call, q=q, context=replace(call.context, keys=k, values=v)), [q, k, v]


def _detached(call: Call) -> Call:
    """Tensors that are saved are not held a second time with their graph."""
    context = replace(call.context, keys=call.context.keys.detach(), values=call.context.values.detach())
    return replace(call, q=call.q.detach(), context=context)
