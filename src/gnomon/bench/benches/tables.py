"""Cosines and sines: whole tables, and those of one step."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor

from gnomon.bench.cell import Candidate, Cell, Request, regime, registry, sorted_out
from gnomon.bench.children import child
from gnomon.bench.peers.rotary import llama_tables
from gnomon.bench.rotations import BASE, Pair
from gnomon.bench.targets import Target
from gnomon.bench.ways import unless_missing
from gnomon.kernels.half_table import HalfTable
from gnomon.kernels.tables import cos_sin_rows
from gnomon.report.bench.results import Row

PAIRS = 64
FILL, OURS, FLOAT32, TRANSFORMERS = "fill", "gnomon", "float32 angles", "transformers"
FAR = 10_000_000  #: rows before this position are checked too
ROUNDING = 6e-8
FIRST = 1000  #: where the tokens of a step begin


@registry.register("tables")
def tables(request: Request) -> Iterator[Cell]:
    """Tables of cosines and sines against filling that memory; those of one step from a kept table."""
    rows = 64 if request.tiny else 131_072 if request.quick else 1_000_000
    yield _whole(rows, request)
    yield _memory(rows, (OURS,) if request.quick else (OURS, FLOAT32))
    yield _far(min(rows, 4096))
    for length in (4,) if request.tiny else (1, 2048, 8192):
        yield _step(length, request)


def inverse() -> Tensor:
    """(P,) float64."""
    exponents = torch.arange(0, 2 * PAIRS, 2, dtype=torch.float64) / (2 * PAIRS)
    return torch.tensor(BASE, dtype=torch.float64) ** -exponents


def way(name: str, rows: int) -> Callable[[], Pair]:
    """A call that makes cos and sin of positions 0 .. rows - 1."""
    if name == TRANSFORMERS:
        return llama_tables(2 * PAIRS, torch.arange(rows)[None])
    return {FILL: partial(_filled, rows), OURS: partial(cos_sin_rows, inverse(), 0, rows)}.get(
        name, partial(_float32, torch.arange(rows))
    )


def _whole(rows: int, request: Request) -> Cell:
    ways = [Candidate(FILL, way(FILL, rows)), *(_checked(name, rows) for name in (OURS, FLOAT32))]
    peer = unless_missing(TRANSFORMERS, request, lambda: _checked(TRANSFORMERS, rows))
    candidates, missing = sorted_out(*ways, peer)
    size = 2 * rows * PAIRS * 4
    targets = (
        Target("T1", "a table: at most 1.3 of filling its memory", "time", OURS, 1.3, (FILL,)),
        Target("T1", "a table: 9 times as fast as transformers", "speed-up", OURS, 9, (TRANSFORMERS,)),
        Target("T1", "a table: error at most 6e-8", "error", OURS, ROUNDING),
    )
    return Cell(f"table of {rows} x {PAIRS} pairs", regime(size // 2), candidates, targets, missing, alone=True)


def _memory(rows: int, names: tuple[str, ...]) -> Cell:
    size = 2 * rows * PAIRS * 4
    target = Target("T1", "a table: peak at most 16 MiB above the result", "memory above", OURS, 16, ("the result",))
    children = tuple(child(name, __name__, "way", {"rows": rows}, warm={"rows": 4}) for name in names)
    return Cell(
        f"peak memory, table of {rows} x {PAIRS} pairs",
        "",
        (),
        (target,),
        (),
        children,
        (Row("the result", peak=size),),
    )


def _checked(name: str, rows: int) -> Candidate:
    call = way(name, rows)
    return Candidate(name, call, partial(error, call, torch.arange(rows)))


def error(call: Callable[[], Any], positions: Tensor) -> float:
    """The largest difference of cos and sin, (..., S, P) or repeated to 2 P, from float64's."""
    cos, sin = (table.reshape(len(positions), -1)[:, :PAIRS] for table in call())
    worst = 0.0
    for rows in torch.arange(len(positions)).split(16_384):
        angles = positions[rows, None].double() * inverse()
        for table, exact in ((cos, angles.cos()), (sin, angles.sin())):
            worst = max(worst, float((table[rows].double() - exact).abs().max()))
    return worst


def _far(rows: int) -> Cell:
    positions = torch.arange(FAR - rows, FAR)
    ways = {OURS: partial(cos_sin_rows, inverse(), FAR - rows, rows), FLOAT32: partial(_float32, positions)}
    candidates = (
        Candidate(FILL, way(FILL, rows)),
        *(Candidate(name, call, partial(error, call, positions)) for name, call in ways.items()),
    )
    target = Target("T1", f"error at most 6e-8 up to position {FAR}", "error", OURS, ROUNDING)
    return Cell(f"{rows} rows up to position {FAR}", regime(0), candidates, (target,), alone=True)


def _step(length: int, request: Request) -> Cell:
    positions = torch.arange(FIRST, FIRST + length)[None]
    kept = HalfTable(tuple(inverse().tolist()))
    calls: dict[str, Callable[[], Any]] = {
        OURS: partial(kept.take, positions),
        FLOAT32: partial(_float32, positions[0]),
    }
    ways = [Candidate(name, call, partial(error, call, positions[0])) for name, call in calls.items()]

    def peer() -> Candidate:
        call = llama_tables(2 * PAIRS, positions)
        return Candidate(TRANSFORMERS, call, partial(error, call, positions[0]))

    call = unless_missing(TRANSFORMERS, request, peer)
    candidates, missing = sorted_out(*ways, call)
    bound = {1: 5, 2048: 15, 8192: 30}.get(length, 1)
    sentence = f"cos and sin of a step of {length}, kept: {bound} times as fast as transformers"
    target = Target("T2", sentence, "speed-up", OURS, bound, (TRANSFORMERS,))
    return Cell(f"one step of {length} tokens", regime(0), candidates, (target,), missing, alone=True)


def _filled(rows: int) -> Pair:
    return torch.empty(rows, PAIRS).fill_(1.0), torch.empty(rows, PAIRS).fill_(1.0)


def _float32(positions: Tensor) -> Pair:
    """As most code has it: angles in float32."""
    angles = positions[:, None].float() * inverse().float()
    return angles.cos(), angles.sin()
