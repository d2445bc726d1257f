"""A way that writes memory itself: what it may not be given, and how its results are made and differentiated."""

from abc import abstractmethod
from typing import Final

import torch

from gnomon.kernels.readable import readable
from gnomon.kernels.rotary.gradients import Recorded
from gnomon.kernels.rotary.path import Pairs, Path, Request, Vectors, tensors_in
from gnomon.kernels.rotary.turn import Turn, tensors_of

DTYPES: Final = (torch.float32, torch.bfloat16, torch.float16)


class Kernel(Path):
    """A way that neither autograd nor anything else in torch sees through: it gets plain tensors only."""

    def refusal(self, request: Request) -> str | None:
        return self.unfit(request) or _odd(request)

    @abstractmethod
    def unfit(self, request: Request) -> str | None:
        """What `refusal` is by the dtype, the device and the layout of what is asked."""

    @abstractmethod
    def write(self, pairs: Pairs, turn: Turn) -> None:
        """Write the turned source of each pair, its last dimension contiguous, into its destination."""

    def turned(self, sources: tuple[Vectors, ...], turn: Turn) -> tuple[Vectors, ...]:
        if torch.is_grad_enabled() and any(source.requires_grad for source in sources):
            return Recorded.apply(self, turn.layout, turn.sign, tensors_of(turn), *sources)  # type: ignore[no-any-return]
        return fresh(self, sources, turn)


def fresh(path: Path, sources: tuple[Vectors, ...], turn: Turn) -> tuple[Vectors, ...]:
    """The turned sources in new memory, its dimensions in the order that theirs have, the last one innermost."""
    sources = tuple(straight(source) for source in sources)
    results = tuple(torch.empty_like(source) for source in sources)
    path.write(tuple(zip(sources, results, strict=True)), turn)
    return results


def straight(x: Vectors) -> Vectors:
    """The vectors, copied unless their last dimension is contiguous."""
    return x if x.stride(-1) == 1 else x.contiguous()


def beyond_float32(request: Request) -> str | None:
    """Why arithmetic in float32 is not enough; None: the vectors are single or half precision."""
    if any(x.dtype not in DTYPES for x in request.sources) or request.turn.cos.dtype != torch.float32:
        return "it is for float32, bfloat16 and float16, with cos and sin in float32"
    return None


def _odd(request: Request) -> str | None:
    """Why memory may not be read and written behind torch's back. In plain loops: decoding is all overhead."""
    tensors = tensors_in(request)
    if not readable(*tensors):
        return "its tensors are no plain memory: another class or device meta, a mode, a transform, or a traced graph"
    for x in tensors:
        # Gradients under `is_grads_batched` have no storage, and no transform of torch.func shows them.
        if x.layout != torch.strided or x.is_neg() or not torch._C._has_storage(x):
            return "a tensor is not plain strided memory"
    turn = request.turn
    if torch.is_grad_enabled() and (turn.cos.requires_grad or turn.sin.requires_grad):
        return "cos or sin requires grad"
    for source in request.sources:
        if turn.width() == 0 or source.numel() == 0:
            return "there is nothing to turn"
    for destination in request.destinations or ():
        if destination.stride(-1) != 1:
            return "the last dimension of what it writes into is not contiguous"
    return None
