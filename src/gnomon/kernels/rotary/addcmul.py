"""Halves in float32 without a compiler: one product and two multiply-adds, written straight into the result."""

from typing import final

import torch
from jaxtyping import Float32
from torch import Tensor

from gnomon.kernels.rotary.kernel import Kernel
from gnomon.kernels.rotary.path import Pairs, Request
from gnomon.kernels.rotary.turn import Turn, rows_of


@final
class Addcmul(Kernel):
    """a cos - b sin and b cos + a sin by `addcmul_`, for layout "half" in float32 on any device.

    In half precision its partial results would be rounded, so that is left to others.
    """

    name = "addcmul"

    def unfit(self, request: Request) -> str | None:
        if request.turn.layout != "half":
            return "it is for layout 'half' only"
        return float32_only(request)

    def write(self, pairs: Pairs, turn: Turn) -> None:
        cos, sin = rows_of(turn)
        cos = cos.unsqueeze(3)
        for source, destination in pairs:
            _write(source, destination, cos, sin)


def float32_only(request: Request) -> str | None:
    """Why arithmetic in the dtype of the vectors would lose bits; None: all are float32."""
    for x in (*request.sources, request.turn.cos, request.turn.sin):
        if x.dtype != torch.float32:
            return "it is for float32 only"
    return None


def _write(
    x: Float32[Tensor, "B H S D"],
    into: Float32[Tensor, "B H S D"],
    cos: Float32[Tensor, "#B 1 S 1 P"],
    sin: Float32[Tensor, "#B 1 S P"],
) -> None:
    pairs = cos.shape[-1]
    if 2 * pairs < x.shape[-1]:
        if into is not x:
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
