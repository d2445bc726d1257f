"""Where a rotation may write. All is checked before anything is written, so a refused call changes nothing."""

from collections.abc import Sequence
from itertools import combinations

import torch
from torch import Tensor
from torch.autograd.graph import increment_version

from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.rotary.path import Request, tensors_in
from gnomon.kernels.rotary.turn import tensors_of


def require_like(name: str, given: Tensor, out: Tensor) -> None:
    """Raise unless `out` has the shape, the dtype and the device of what is turned into it."""
    if out.shape != given.shape:
        raise ShapeError(f"out for {name} must have its shape {tuple(given.shape)}, got {tuple(out.shape)}.")
    if (out.dtype, out.device) != (given.dtype, given.device):
        raise GnomonError(
            f"out for {name} must be {given.dtype} on {given.device} as {name} is, got {out.dtype} on {out.device}."
        )


def require_unrecorded(request: Request) -> None:
    """Raise where autograd records: it can neither see a result in given memory nor do without the overwritten one."""
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_in(request)):
        raise GnomonError(
            "Rotating in place or into out is not for tensors that require grad while gradients are recorded, as "
            "autograd needs what would be overwritten; leave out and inplace away, or call it under torch.no_grad()."
        )
    if torch.compiler.is_compiling() or torch.is_inference_mode_enabled():
        return
    if any(destination.is_inference() for destination in request.destinations or ()):
        raise GnomonError(
            "A tensor made in inference mode cannot be overwritten outside of it; leave out and inplace away, or call "
            "it under torch.inference_mode()."
        )


def require_apart(request: Request) -> None:
    """Raise where a place in memory would be written twice, or written before it is read."""
    sources, destinations = request.sources, request.destinations or ()
    for name, destination in zip(("q", "k"), destinations, strict=False):
        if not _dense(destination):
            raise GnomonError(
                f"The memory that the rotated {name} would be written into overlaps itself (shape "
                f"{tuple(destination.shape)}, strides {destination.stride()}), as that of an expanded tensor does; "
                f"rotate out of place, or clone it first."
            )
    read = [*tensors_of(request.turn)]
    for source, destination in zip(sources, destinations, strict=True):
        if not _same(source, destination):
            read.append(source)
    clashes = [(a, b) for a in destinations for b in read if not apart(a, b)]
    clashes += [(a, b) for a, b in combinations(destinations, 2) if not apart(a, b)]
    if clashes:
        raise GnomonError(
            "What would be written shares memory with another tensor of the call (q, k, out, cos, sin, positions); "
            "rotate out of place, or clone one of them first."
        )


def outdated(written: Sequence[Tensor]) -> None:
    """Let autograd know that what it kept of these tensors is stale; tensors of inference mode have no version."""
    increment_version([tensor for tensor in written if not tensor.is_inference()])


def apart(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors surely have no byte in common; slices of one row each are told apart, odd strides are not.

    >>> fused = torch.zeros(2, 5, 12)
    >>> apart(fused[..., :8], fused[..., 8:]), apart(fused[..., :8], fused[..., 7:])
    (True, False)
    """
    if not one.numel() or not other.numel() or one.device != other.device:
        return True
    (start, spans), (begin, extents) = _layout(one), _layout(other)
    if start + _reach(one, spans) <= begin or begin + _reach(other, extents) <= start:
        return True
    return any(_in_other_columns(one, other, pitch) for pitch in {stride for stride, _ in (*spans, *extents)} - {0})


def _in_other_columns(one: Tensor, other: Tensor, pitch: int) -> bool:
    """Whether each stays in columns of its own, when memory is seen as rows of `pitch` bytes."""
    (start, spans), (begin, extents) = _layout(one), _layout(other)
    width, reach = (
        _reach(tensor, [span for span in inner if span[0] % pitch])
        for tensor, inner in ((one, spans), (other, extents))
    )
    gap = (begin - start) % pitch
    return width <= gap and gap + reach <= pitch


def _layout(tensor: Tensor) -> tuple[int, list[tuple[int, int]]]:
    """Where it starts in memory, and stride in bytes and size of each dimension that has more than one place."""
    item = tensor.element_size()
    spans = [(stride * item, size) for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1]
    return tensor.data_ptr(), spans


def _reach(tensor: Tensor, spans: list[tuple[int, int]]) -> int:
    """How many bytes lie from the first to the last, along some of its dimensions."""
    return tensor.element_size() + sum(stride * (size - 1) for stride, size in spans)


def _dense(tensor: Tensor) -> bool:
    """Whether each element surely has a place of its own: each stride steps over all that the smaller ones reach."""
    if not tensor.numel():
        return True
    reach = tensor.element_size()
    for stride, size in sorted(_layout(tensor)[1]):
        if stride < reach:
            return False
        reach += stride * (size - 1)
    return True


def _same(one: Tensor, other: Tensor) -> bool:
    return one.data_ptr() == other.data_ptr() and one.stride() == other.stride()
