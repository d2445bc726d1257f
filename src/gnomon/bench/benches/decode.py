"""One new token: what a call costs."""

from collections.abc import Iterator

import torch

from gnomon.bench.cell import INTO_GIVEN, Cell, Request, registry, sorted_out
from gnomon.bench.rotations import Rotation, Shape
from gnomon.bench.targets import OTHERS, Target
from gnomon.bench.ways import FRESH, IN_PLACE, copies, forced, gnomons, path_name, peer_names, peers, word
from gnomon.kernels import native
from gnomon.kernels.rotation import LAYOUTS

FULL = Shape(1, 32, 32, 1, 128, first=1000)
TINY = Shape(1, 2, 2, 1, 16, first=3)


@registry.register("decode")
def decode(request: Request) -> Iterator[Cell]:
    """Rotation of the queries and keys of one token, where the cost of a call is all."""
    for dtype in (torch.float32, torch.bfloat16):
        for layout in LAYOUTS:
            yield _cell(Rotation(TINY if request.tiny else FULL, dtype, layout), request)


def _cell(rotation: Rotation, request: Request) -> Cell:
    paths = ("eager", "addcmul") if rotation.layout == "half" else ("eager", "complex")
    candidates, missing = sorted_out(
        *copies(rotation), *gnomons(rotation), *forced(rotation, *paths, fresh=True), *peers(rotation, request)
    )
    title = f"{word(rotation.dtype)}, {rotation.layout}, {rotation.shape}"
    regime = f"{INTO_GIVEN}, or fresh from the heap"
    return Cell(title, regime, candidates, tuple(_targets(rotation)), missing, alone=True)


def _targets(rotation: Rotation) -> Iterator[Target]:
    single, half = rotation.dtype == torch.float32, rotation.layout == "half"
    if native.AVAILABLE:
        for ours in (IN_PLACE, FRESH):
            yield Target("R5", f"compiled kernel, {ours}: q and k of one token in 6 us", "seconds", ours, 6e-6)
        if half:
            sentence = "compiled kernel: 10 times as fast as transformers"
            yield Target("R5", sentence, "speed-up", IN_PLACE, 10, ("transformers",))
    path, bound = ("addcmul" if half else "complex", 35) if single else ("eager", 45)
    sentence = f"pure torch: q and k of one token in {bound} us"
    yield Target("R5", sentence, "seconds", path_name(path, fresh=True), bound * 1e-6)
    yield Target("peers", f"into fresh memory: faster than {OTHERS}", "speed-up", FRESH, 1.0, peer_names(rotation))
