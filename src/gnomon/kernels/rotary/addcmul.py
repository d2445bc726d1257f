"""Layout "half" without a compiler: one product and two multiply-adds, written straight into the result."""

from collections.abc import Iterator
from typing import Final, final

import torch
from jaxtyping import Float32
from torch import Tensor

from gnomon.kernels.rotary.kernel import Kernel, beyond_float32
from gnomon.kernels.rotary.path import Pairs, Request
from gnomon.kernels.rotary.turn import Turn, rows_of

#: How many numbers are turned at once: half a megabyte in float32.
BLOCK: Final = 2**17


@final
class Addcmul(Kernel):
    """a cos - b sin and b cos + a sin by `addcmul_`, for layout "half" on any device.

    Half precision goes through a float32 copy, so that it is rounded once.
    """

    name = "addcmul"

    def unfit(self, request: Request) -> str | None:
        if request.turn.layout != "half":
            return "it is for layout 'half' only"
        return beyond_float32(request)

    def write(self, pairs: Pairs, turn: Turn) -> None:
        cos, sin = rows_of(turn)
        cos = cos.unsqueeze(3)
        for source, destination in pairs:
            for x, into, c, s in _blocks(source, destination, cos, sin):
                if x.dtype == torch.float32:
                    _write(x, into, c, s)
                else:
                    wide = x.float()
                    result = torch.empty_like(wide)
                    _write(wide, result, c, s)
                    into.copy_(result)


def _blocks(x: Tensor, into: Tensor, cos: Tensor, sin: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """The work in pieces that stay in the caches: some heads of one row of the batch; all at once when it is little."""
    if x.numel() <= BLOCK:
        yield x, into, cos, sin
        return
    heads = max(1, BLOCK // (x.shape[2] * x.shape[3]))
    by_row = (cos.split(1), sin.split(1)) if cos.shape[0] > 1 else ((cos,) * len(x), (sin,) * len(x))
    for row, place, c, s in zip(x.split(1), into.split(1), *by_row, strict=True):
        for some, there in zip(row.split(heads, 1), place.split(heads, 1), strict=True):
            yield some, there, c, s


def _write(
    x: Float32[Tensor, "B H S D"],
    into: Float32[Tensor, "B H S D"],
    cos: Float32[Tensor, "#B 1 S 1 P"],
    sin: Float32[Tensor, "#B 1 S P"],
) -> None:
    pairs = cos.shape[-1]
    if 2 * pairs < x.shape[-1]:
        if into.data_ptr() != x.data_ptr():
            into[..., 2 * pairs :].copy_(x[..., 2 * pairs :])
        x, into = x[..., : 2 * pairs], into[..., : 2 * pairs]
    halves = (*x.shape[:3], 2, pairs)
    a, b = x.chunk(2, -1)
    first, second = into.chunk(2, -1)
    if x.data_ptr() == into.data_ptr():
        a, b = a.clone(), b.clone()
    torch.mul(x.view(halves), cos, out=into.view(halves))
    first.addcmul_(b, sin, value=-1)
    second.addcmul_(a, sin)
