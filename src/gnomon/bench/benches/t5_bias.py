"""T5's bias, made for all pairs of a sequence."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gnomon.bench.cell import Candidate, Cell, Request, regime, registry, sorted_out
from gnomon.bench.children import child
from gnomon.bench.peers.installed import UNIMPORTABLE, as_reason, require
from gnomon.bench.rotations import SEED
from gnomon.bench.targets import Target
from gnomon.bench.ways import unless_missing
from gnomon.encodings.t5 import T5Bias, reference_bucket
from gnomon.kernels.band import Band, distances
from gnomon.report.bench.results import Row

HEADS, BUCKETS, FARTHEST = 8, 32, 128
OURS, DENSE, TRANSFORMERS = "gnomon, numbers and their view", "gnomon, all pairs", "transformers, compute_bias"
TABLE = "a number for each distance"


@registry.register("t5-bias")
def t5_bias(request: Request) -> Iterator[Cell]:
    """The bias of T5's encoder: numbers of all distances and a view of them, against a matrix."""
    lengths = (40,) if request.tiny else (512, 1024) if request.quick else (512, 1024, 2048)
    for length in lengths:
        yield _cell(length, request)
    yield _memory(lengths[-1], (OURS,) if request.quick else (OURS, DENSE))


def way(name: str, length: int) -> Callable[[], Tensor]:
    """A call that makes the bias of this length. That of `OURS` has its rows in reverse order: such is the view."""
    if name == TRANSFORMERS:
        return _transformers(length)
    bias, positions = encoding(), torch.arange(length)[None]
    made = partial(_viewed, bias, length) if name == OURS else partial(bias.bias, positions, positions)
    return torch.no_grad()(made)


def encoding() -> T5Bias:
    """The bias, with the same numbers each time."""
    made = T5Bias(HEADS, num_buckets=BUCKETS, max_distance=FARTHEST)
    with torch.no_grad():
        made.weight.normal_(generator=torch.Generator().manual_seed(SEED))
    return made


def _cell(length: int, request: Request) -> Cell:
    peer = unless_missing(TRANSFORMERS, request, lambda: _candidate(TRANSFORMERS, length))
    candidates, missing = sorted_out(*(_candidate(name, length) for name in (OURS, DENSE)), peer)
    bound = 40 if length < 1024 else 150
    targets = (
        Target("B1", f"{bound} times as fast as transformers", "speed-up", OURS, bound, (TRANSFORMERS,)),
        Target("B1", f"less than 1 ms for {length} tokens", "seconds", OURS, 1e-3),
        Target("B1", "error at most 1e-6", "error", OURS, 1e-6),
    )
    return Cell(f"H{HEADS} L{length}", regime(HEADS * length**2 * 4), candidates, targets, missing, alone=True)


def _memory(length: int, names: tuple[str, ...]) -> Cell:
    numbers = 4 * HEADS * (2 * length - 1)
    children = tuple(child(name, __name__, "way", {"length": length}, warm={"length": 4}) for name in names)
    target = Target("B1", "peak at most 8 times a number for each head and distance", "memory", OURS, 8.0, (TABLE,))
    return Cell(f"peak memory, H{HEADS} L{length}", "", (), (target,), (), children, (Row(TABLE, peak=numbers),))


def _candidate(name: str, length: int) -> Candidate:
    run = way(name, length)
    return Candidate(name, run, partial(_error, run, length, flipped=name == OURS))


def _viewed(bias: T5Bias, length: int) -> Tensor:
    steps = distances(length, length, offset=0)
    numbers = bias.by_distance(torch.arange(steps.start, steps.stop))
    band = Band(steps, 0, length, length)
    [block] = band.blocks(length)
    return block.mask(band.padded(numbers, length, torch.float32), torch.float32)


def _transformers(length: int) -> Callable[[], Tensor]:
    require("transformers")
    with as_reason(UNIMPORTABLE):
        from transformers import T5Config
        from transformers.models.t5.modeling_t5 import T5Attention

    sizes = {"num_heads": HEADS, "relative_attention_num_buckets": BUCKETS}
    config = T5Config(d_model=8, d_kv=8, relative_attention_max_distance=FARTHEST, **sizes)
    layer: Any = T5Attention(config, has_relative_attention_bias=True, layer_idx=0)
    layer.relative_attention_bias.weight = encoding().weight
    return torch.no_grad()(partial(layer.compute_bias, length, length))


def _error(run: Callable[[], Tensor], length: int, *, flipped: bool) -> float:
    """The largest difference in some rows from the rule of the paper, number by number."""
    given, weight = run(), encoding().weight.detach()
    given = given.flip(2) if flipped else given
    worst = 0.0
    for row in {0, length // 3, length - 1}:
        buckets = [_bucket(key - row) for key in range(length)]
        expected = weight[buckets].T
        shown = given[0, :, row]
        moved = (shown - expected)[:, :1]  # a view has the largest number of each head moved to zero
        worst = max(worst, float((shown - expected - (moved if flipped else 0.0)).abs().max()))
    return worst


def _bucket(offset: int) -> int:
    return reference_bucket(offset, BUCKETS, FARTHEST, "both")
