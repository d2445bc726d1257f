"""The compiled way on the CPU: one pass over q and k, in float32, bfloat16 and float16, of either layout."""

from typing import final

import torch

from gnomon.kernels import native
from gnomon.kernels.rotary.kernel import Kernel, beyond_float32
from gnomon.kernels.rotary.path import Pairs, Request
from gnomon.kernels.rotary.turn import Turn, outside_table
from gnomon.kernels.rotary.writing import outdated


@final
class Compiled(Kernel):
    """`gnomon.kernels.native.rotate`: arithmetic in float32, one rounding, rows of the table picked on the way."""

    name = "native"

    def unfit(self, request: Request) -> str | None:
        if not native.AVAILABLE:
            return f"the compiled part is not available: {native.reason()}"
        if len({x.dtype for x in request.sources}) > 1:
            return "q and k differ in dtype"
        return beyond_float32(request) or (None if request.turn.cos.is_cpu else "it is for the CPU")

    def write(self, pairs: Pairs, turn: Turn) -> None:
        cos, sin = turn.cos.contiguous(), turn.sin.contiguous()
        threads = torch.get_num_threads()
        wrong = native.rotate(pairs, cos, sin, turn.positions, turn.layout == "interleaved", turn.sign, threads)
        if wrong != -1:
            raise outside_table(wrong, cos.shape[0])
        outdated([destination for _, destination in pairs])
