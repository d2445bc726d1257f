"""What ranks exchange, with the gradients that follow from it.

`copied` and `summed` are f and g of Megatron: Shoeybi et al. 2019, arXiv:1909.08053, section 3.
"""

from typing import Any, cast

import torch
import torch.distributed as dist
from jaxtyping import Float, Shaped
from torch import Tensor, nn

from gnomon.errors import GnomonError
from gnomon.kernels.given import is_whole, require


def place(group: dist.ProcessGroup | None = None) -> tuple[int, int]:
    """(rank, world) of this process in the group; None is the group of all.

    Raises GnomonError where there is no group, and for what torch gives a process that is not in the group.
    """
    require_group(group)
    if not (dist.is_available() and dist.is_initialized()):
        raise GnomonError(
            "This process belongs to no group: start it with torchrun and call torch.distributed.init_process_group."
        )
    return dist.get_rank(group), dist.get_world_size(group)


def require_group(group: dist.ProcessGroup | None) -> None:
    """Raise GnomonError for what is no process group and not None."""
    if group is not None:
        require(group, dist.ProcessGroup, "A group is a torch.distributed.ProcessGroup of this process, or None")


def summed(x: Float[Tensor, "*S"], group: dist.ProcessGroup | None = None) -> Float[Tensor, "*S"]:
    """The sum of all ranks' x, on every rank. Its gradient, equal on all ranks, goes to each x as it is.

    Raises GnomonError outside a process group.
    """
    place(group)
    result: Tensor = _Summed.apply(x, group)  # type: ignore[no-untyped-call]
    return result


def copied(
    x: Float[Tensor, "*S"], group: dist.ProcessGroup | None = None, *, part: tuple[int, int] = (0, 1)
) -> Float[Tensor, "*S"]:
    """x, which all ranks hold alike; its gradient is the sum of what each rank's use of it gives.

    `part`, (index, count): there are `count` different x, of one shape, and this rank holds number `index`: the sum is
    over the ranks that hold the same. Every rank of the group takes part in it.

    Raises GnomonError outside a process group, and for a part that is not there.
    """
    if not (isinstance(part, tuple) and len(part) == 2 and all(map(is_whole, part)) and 0 <= part[0] < part[1]):
        raise GnomonError(f"A part is (index, count), two integers with 0 <= index < count, got {part!r}.")
    place(group)
    result: Tensor = _Copied.apply(x, group, part)  # type: ignore[no-untyped-call]
    return result


def gathered(x: Shaped[Tensor, "*S"], group: dist.ProcessGroup | None = None) -> tuple[Shaped[Tensor, "*S"], ...]:
    """The x of rank 0, 1, ..., all of one shape. Each gets as its gradient the sum of what all ranks' uses give.

    Raises GnomonError outside a process group.
    """
    place(group)
    return cast("tuple[Tensor, ...]", _Gathered.apply(x, group))  # type: ignore[no-untyped-call]


def sum_gradients(module: nn.Module, group: dist.ProcessGroup | None = None) -> None:
    """Add up each parameter's gradient over ranks that hold the same parameters: once, before a step of the optimizer.

    With a loss that is this rank's part of a sum over all tokens, as under context parallelism. A parameter without a
    gradient on this rank counts as zero. Raises GnomonError outside a process group, before a gradient changes.
    """
    require(module, nn.Module, "Gradients are summed of a torch.nn.Module")
    place(group)
    for parameter in module.parameters():
        if parameter.requires_grad:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            dist.all_reduce(parameter.grad, group=group)


class _Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: dist.ProcessGroup | None) -> Tensor:
        total = x.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total, group=group)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


class _Copied(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: dist.ProcessGroup | None, part: tuple[int, int]) -> Tensor:
        ctx.group, ctx.part = group, part
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        index, count = ctx.part
        parts = gradient.new_zeros(count, *gradient.shape)
        parts[index] = gradient
        dist.all_reduce(parts, group=ctx.group)
        return parts[index], None, None


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, group: dist.ProcessGroup | None) -> tuple[Tensor, ...]:
        ctx.group = group
        own = x.contiguous()
        parts = [torch.empty_like(own) for _ in range(place(group)[1])]
        dist.all_gather(parts, own, group=group)
        return tuple(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        parts = [gradient.contiguous() for gradient in gradients]
        own = torch.empty_like(parts[0])
        dist.reduce_scatter(own, parts, group=ctx.group)
        return own, None
