"""Rotation with its gradients."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gnomon.bench.cell import Candidate, Cell, Request, regime, registry, sorted_out
from gnomon.bench.peers.rotary import Rotate
from gnomon.bench.rotations import Pair, Rotation, Shape
from gnomon.bench.targets import OTHERS, Target
from gnomon.bench.ways import CLONE, FRESH, peer_names, peers, turning, word
from gnomon.kernels.rotation import LAYOUTS

FULL = (Shape(1, 32, 32, 2048, 128), Shape(8, 16, 16, 512, 64), Shape(1, 32, 32, 1, 128, first=1000))
QUICK = (Shape(1, 16, 16, 512, 128),)
TINY = (Shape(2, 2, 1, 8, 16),)


@registry.register("rotary-backward")
def rotary_backward(request: Request) -> Iterator[Cell]:
    """Rotation forward and backward, against cloning queries, keys and both gradients."""
    for shape in TINY if request.tiny else QUICK if request.quick else FULL:
        for dtype in (torch.float32, torch.bfloat16):
            for layout in LAYOUTS:
                yield _cell(Rotation(shape, dtype, layout), request)


def _cell(rotation: Rotation, request: Request) -> Cell:
    q, k = rotation.inputs
    gradients = with_gradients(turning(rotation), q, k)
    ours = Candidate(FRESH, gradients, partial(rotation.error, gradients, back=True))
    four = Candidate(CLONE, lambda: [x.clone() for x in (q, k, q, k)])
    candidates, missing = sorted_out(four, ours, *peers(rotation, request, with_gradients, back=True))
    title = f"{word(rotation.dtype)}, {rotation.layout}, {rotation.shape}, forward and backward"
    return Cell(title, regime(rotation.largest), candidates, tuple(_targets(rotation)), missing, alone=request.quick)


def with_gradients(rotate: Rotate | Callable[..., Any], q: Tensor, k: Tensor) -> Callable[[], Pair]:
    """A call that rotates q and k and takes the gradients of both; what comes back to the outputs is q and k."""
    q, k = (x.detach().clone().requires_grad_() for x in (q, k))
    given = (q.detach(), k.detach())

    def call() -> Pair:
        to_q, to_k = torch.autograd.grad(rotate(q, k), (q, k), given)
        return to_q, to_k

    return call


def _targets(rotation: Rotation) -> Iterator[Target]:
    decoding = rotation.shape.length == 1
    if rotation.dtype == torch.float32 and not decoding:
        yield Target("R6", "float32: at most 2.0 of cloning all four", "time", FRESH, 2.0, (CLONE,))
    if rotation.dtype == torch.float32 and rotation.layout == "half":
        bound = 2.5 if decoding else 3.5
        yield Target(
            "R6", f"float32: {bound} times as fast as transformers", "speed-up", FRESH, bound, ("transformers",)
        )
    if rotation.dtype == torch.float32 and rotation.layout == "interleaved" and not decoding:
        library = "rotary-embedding-torch"
        yield Target("R6", f"float32: 7 times as fast as {library}", "speed-up", FRESH, 7, (library,))
    yield Target("peers", f"faster than {OTHERS}", "speed-up", FRESH, 1.0, peer_names(rotation))
