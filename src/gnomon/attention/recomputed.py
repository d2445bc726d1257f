"""Attention block by block that keeps nothing of a block: its biases are computed again for its gradients.

Like torch.utils.checkpoint on each block, but the gradients of keys and values are added up where they belong. Through
slices each block would make gradients of the full length of its own, which is a matrix again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from gnomon.attention.call import Call
from gnomon.attention.kept import copied, copyable, kept_call

#: start and end of the queries of a block, first and last slot (exclusive) that they see
Extent = tuple[int, int, int, int]
Attend = Callable[[Call], Tensor]


def recomputed(attend: Attend, call: Call, extents: Sequence[Extent]) -> Float[Tensor, "B H Q D"]:
    """`attend` on each block, with exact gradients for queries, keys, values and the parameters of the encoding.

    They are those of this call, whatever happens to the encoding, the positions and the masks before the backward pass.
    An encoding that holds methods of its own is not computed again: what its blocks need for gradients is kept.
    """
    states: list[Tensor] = []

    def noted(tensor: Tensor) -> Tensor:
        states.append(tensor)
        return tensor.detach()

    tensors = (call.q, call.context.keys, call.context.values)
    if not torch.is_grad_enabled() or not copyable(call.encoding):
        return _all(attend, call, extents)
    kept = replace(kept_call(call), encoding=copied(call.encoding, noted))
    out: Tensor = _Recomputed.apply(attend, kept, extents, *tensors, *states)  # type: ignore[no-untyped-call]
    return out


def _all(attend: Attend, call: Call, extents: Sequence[Extent]) -> Float[Tensor, "B H Q D"]:
    return torch.cat([attend(_block(call, extent)) for extent in extents], dim=2)


@final
class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, attend: Attend, call: Call, extents: Sequence[Extent], *given: Tensor) -> Tensor:
        ctx.attend, ctx.call, ctx.extents = attend, call, extents
        ctx.save_for_backward(*given)
        kind = call.q.device.type
        ctx.autocast = (kind, torch.get_autocast_dtype(kind), torch.is_autocast_enabled(kind))
        return _all(attend, call, extents)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        saved, wanted = ctx.saved_tensors, ctx.needs_input_grad[3:]
        sums = [_zeros(x) if asked else None for x, asked in zip(saved, wanted, strict=True)]
        states = [x.detach().requires_grad_(asked) for x, asked in zip(saved[3:], wanted[3:], strict=True)]
        given = iter(states)
        call = replace(ctx.call, encoding=copied(ctx.call.encoding, lambda _: next(given)))
        kind, dtype, enabled = ctx.autocast
        for extent in ctx.extents:
            start, end, first, last = extent
            # each block has a graph of its own, so no cast of a parameter may be remembered
            with torch.enable_grad(), torch.autocast(kind, dtype=dtype, enabled=enabled, cache_enabled=False):
                block, leaves = _with_leaves(_block(call, extent), wanted)
                out = ctx.attend(block)
            own = zip(sums[:3], (slice(start, end), slice(first, last), slice(first, last)), strict=True)
            totals = [*(total if total is None else total[:, :, slots] for total, slots in own), *sums[3:]]
            _add_gradients(out, grad[:, :, start:end], zip([*leaves, *states], totals, strict=True))
        return None, None, None, *(x if x is None else x.to(of.dtype) for x, of in zip(sums, saved, strict=True))


def _zeros(x: Tensor) -> Tensor:
    """Sums over many blocks are no task for half precision."""
    return torch.zeros_like(x, dtype=torch.promote_types(x.dtype, torch.float32))


def _add_gradients(out: Tensor, grad: Tensor, inputs: Iterable[tuple[Tensor, Tensor | None]]) -> None:
    """Each gradient to its sum, where there is one."""
    asked = [(x, total) for x, total in inputs if total is not None and out.requires_grad]
    found = torch.autograd.grad(out, [x for x, _ in asked], grad, allow_unused=True) if asked else ()
    for (_, total), part in zip(asked, found, strict=True):
        if part is not None:
            total.add_(part)


def _block(call: Call, extent: Extent) -> Call:
    start, end, first, last = extent
    return call.part(start, end, first_key=first, last_key=last)


def _with_leaves(call: Call, wanted: Sequence[bool]) -> tuple[Call, list[Tensor]]:
    """The call on queries, keys and values that gradients are asked for, where `wanted`, and these."""
    given = zip((call.q, call.context.keys, call.context.values), wanted, strict=False)
    q, k, v = (x.detach().requires_grad_(asked) for x, asked in given)
    return replace(call, q=q, context=replace(call.context, keys=k, values=v)), [q, k, v]
