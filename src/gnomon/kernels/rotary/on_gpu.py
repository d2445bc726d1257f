"""The way on a GPU: one Triton kernel for each of q and k, in float32, bfloat16 and float16, of either layout."""

import os
from importlib.util import find_spec
from typing import Final, final

import torch

from gnomon.kernels.rotary.kernel import Kernel, beyond_float32
from gnomon.kernels.rotary.path import Pairs, Request
from gnomon.kernels.rotary.turn import Turn, require_inside
from gnomon.kernels.rotary.writing import outdated

#: Triton runs kernels on the CPU, slowly, under TRITON_INTERPRET=1.
_INTERPRETED: Final = os.environ.get("TRITON_INTERPRET") == "1"


@final
class OnGPU(Kernel):
    """Arithmetic in float32, one rounding; a row of the table is read once for all heads of its token.

    A position outside the table is reported by the device, as reading it here would wait for all work in the queue.
    """

    name = "triton"

    def unfit(self, request: Request) -> str | None:
        if not (request.turn.cos.is_cuda or _INTERPRETED):
            return "it is for CUDA devices"
        if find_spec("triton") is None:
            return "Triton is not installed: pip install 'gnomon[triton]'"
        return beyond_float32(request)

    def write(self, pairs: Pairs, turn: Turn) -> None:
        from gnomon.kernels.rotary.triton_kernel import launch

        if turn.positions is not None:
            if turn.positions.is_cuda:
                torch._assert_async(((turn.positions >= 0) & (turn.positions < turn.cos.shape[0])).all())
            else:
                require_inside(turn.positions, turn.cos.shape[0])
        for source, destination in pairs:
            launch(source, destination, turn)
        outdated([destination for _, destination in pairs])
