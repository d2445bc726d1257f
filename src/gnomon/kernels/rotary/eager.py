"""The eager way: plain torch for every dtype, device and kind of tensor. All others are held against it."""

from typing import final

from gnomon.kernels.rotary.path import Path, Request, Vectors
from gnomon.kernels.rotary.turn import Turn, rows_of
from gnomon.kernels.rotation import rotate


@final
class Eager(Path):
    """`gnomon.kernels.rotation.rotate`, differentiable in all that it is given. Makes several tensors of x's size."""

    name = "eager"

    def refusal(self, request: Request) -> str | None:
        return None

    def turned(self, sources: tuple[Vectors, ...], turn: Turn) -> tuple[Vectors, ...]:
        cos, sin = rows_of(turn)
        return tuple(rotate(source, cos, sin, layout=turn.layout) for source in sources)
