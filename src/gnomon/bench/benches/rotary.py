"""Queries and keys rotated for a whole sequence."""

from collections.abc import Iterator

import torch

from gnomon.bench.cell import LARGE, Cell, Request, regime, registry, sorted_out
from gnomon.bench.rotations import Rotation, Shape
from gnomon.bench.targets import OTHERS, Target
from gnomon.bench.ways import (
    CLONE,
    COPY,
    FRESH,
    GIVEN,
    IN_PLACE,
    copies,
    forced,
    gnomons,
    path_name,
    peer_names,
    peers,
    word,
)
from gnomon.kernels.rotation import LAYOUTS

FULL = (Shape(1, 32, 32, 2048, 128), Shape(8, 16, 16, 512, 64), Shape(1, 32, 8, 8192, 128))
QUICK = (Shape(1, 32, 32, 512, 128), Shape(1, 32, 8, 2560, 128))
TINY = (Shape(2, 2, 1, 8, 16),)


@registry.register("rotary")
def rotary(request: Request) -> Iterator[Cell]:
    """Rotation of queries and keys against copying them, and against other libraries."""
    shapes = TINY if request.tiny else QUICK if request.quick else FULL
    for shape in shapes:
        for dtype in (torch.float32, torch.bfloat16):
            for layout in LAYOUTS:
                rotation = Rotation(shape, dtype, layout)
                brief = request.quick and shape is not shapes[0]
                if not brief or (dtype, layout) == (torch.float32, "half"):
                    yield _cell(rotation, request, alone=brief)


def _cell(rotation: Rotation, request: Request, *, alone: bool) -> Cell:
    paths = ("addcmul", "native") if rotation.layout == "half" else ("complex", "native")
    candidates, missing = sorted_out(
        *copies(rotation), *gnomons(rotation), *forced(rotation, *paths), *peers(rotation, request)
    )
    title = f"{word(rotation.dtype)}, {rotation.layout}, {rotation.shape}"
    fresh = regime(rotation.largest)
    stated = f"out= and in place: given; copies by clone, fresh and peers: {fresh}"
    return Cell(title, stated, candidates, tuple(_targets(rotation)), missing, alone=alone)


def _targets(rotation: Rotation) -> Iterator[Target]:
    yield from _single(rotation) if rotation.dtype == torch.float32 else _half(rotation)
    for ours in (GIVEN, IN_PLACE):
        yield Target("P2", f"{ours}, two threads: at least 1.4 times as fast as one", "threads", ours, 1.4, threads=2)
    yield Target("peers", f"into fresh memory: faster than {OTHERS}", "speed-up", FRESH, 1.0, peer_names(rotation))


def _single(rotation: Rotation) -> Iterator[Target]:
    yield Target("R1", "float32 into given memory: at most 1.10 of copy_", "time", GIVEN, 1.10, (COPY,))
    yield Target("R2", "float32 in place: at most 0.95 of copy_", "time", IN_PLACE, 0.95, (COPY,))
    yield Target("R3", "float32 into fresh memory: at most 1.20 of clone", "time", FRESH, 1.20, (CLONE,))
    if rotation.layout == "interleaved":
        sentence = "complex product, no compiler: at most 1.10 of copy_"
        yield Target("R7", sentence, "time", path_name("complex"), 1.10, (COPY,))
        return
    given, fresh, plain = (20, 4, 7) if rotation.largest >= LARGE else (12, 5, 2.5)
    yield _faster("R1", "float32 into given memory", GIVEN, given)
    yield _faster("R3", "float32 into fresh memory", FRESH, fresh)
    yield _faster("R7", "two addcmul, no compiler", path_name("addcmul"), plain)


def _half(rotation: Rotation) -> Iterator[Target]:
    yield Target("R4", "bfloat16 in place: at most 1.3 of copy_", "time", IN_PLACE, 1.3, (COPY,))
    yield Target("R4", "bfloat16: one rounding, error at most 0.0157", "error", IN_PLACE, 0.0157)
    if rotation.largest < LARGE:
        yield Target("R4", "bfloat16 into fresh memory: at most 1.6 of clone", "time", FRESH, 1.6, (CLONE,))
    if rotation.layout == "half":
        yield _faster("R4", "bfloat16 into fresh memory", FRESH, 4)
        yield _faster("R4", "bfloat16 in place", IN_PLACE, 4.5)


def _faster(code: str, what: str, ours: str, times: float) -> Target:
    return Target(code, f"{what}: {times} times as fast as transformers", "speed-up", ours, times, ("transformers",))
