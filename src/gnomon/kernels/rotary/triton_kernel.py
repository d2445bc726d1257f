"""The rotation in Triton, an optional library that is imported when the first tensor turns."""

from __future__ import annotations

from contextlib import nullcontext
from functools import cache
from typing import Any

import torch
from torch import Tensor

from gnomon.kernels.rotary.turn import Turn

#: How many heads of a token one program turns, at most.
HEADS = 16

tl: Any = None  # triton.language, which the kernel below needs under a global name


@cache
def _kernel() -> tuple[Any, Any]:
    """Triton and the kernel."""
    global tl
    import triton  # type: ignore[import-not-found, import-untyped, unused-ignore]
    import triton.language as tl  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return triton, triton.jit(_turn)


def launch(source: Tensor, destination: Tensor, turn: Turn) -> None:
    """Turn (B, H, S, D) into memory of that shape, which may be its own; last dimensions are contiguous."""
    triton, kernel = _kernel()
    batch, heads, length, width = source.shape
    cos, sin, at = turn.cos.contiguous(), turn.sin.contiguous(), turn.positions
    pairs, rest = cos.shape[-1], 0 if source.data_ptr() == destination.data_ptr() else width - turn.width()
    per_row = cos.ndim == 3 and cos.shape[0] > 1
    block = min(HEADS, triton.next_power_of_2(heads))
    with torch.cuda.device(source.device) if source.is_cuda else nullcontext():
        kernel[(batch * length, triton.cdiv(heads, block))](
            *(source, *source.stride()[:3]),
            *(destination, *destination.stride()[:3]),
            *(cos, sin, length * pairs if per_row else 0),
            *((cos, 0, 0) if at is None else (at, at.stride(0) if at.shape[0] > 1 else 0, at.stride(1))),
            *(heads, length, turn.sign),
            PICKED=at is not None,
            INTERLEAVED=turn.layout == "interleaved",
            PAIRS=pairs,
            PAIR_BLOCK=triton.next_power_of_2(pairs),
            REST=rest,
            REST_BLOCK=triton.next_power_of_2(max(rest, 1)),
            HEAD_BLOCK=block,
        )


# Triton and its interpreter read the text of the annotations. Pointers have quoted ones: other names stop Triton.
def _turn(
    x: "Any",
    x_batch: int,
    x_head: int,
    x_token: int,
    y: "Any",
    y_batch: int,
    y_head: int,
    y_token: int,
    cos: "Any",
    sin: "Any",
    row_batch: int,
    place: "Any",
    place_batch: int,
    place_token: int,
    heads: int,
    length: int,
    sign: float,
    PICKED: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    PAIRS: tl.constexpr,
    PAIR_BLOCK: tl.constexpr,
    REST: tl.constexpr,
    REST_BLOCK: tl.constexpr,
    HEAD_BLOCK: tl.constexpr,
) -> None:
    """One token, some of its heads: their pairs turn by the row of the table that is the token's."""
    batch, token = tl.program_id(0).to(tl.int64) // length, tl.program_id(0).to(tl.int64) % length
    head = tl.program_id(1) * HEAD_BLOCK + tl.arange(0, HEAD_BLOCK)[:, None].to(tl.int64)
    pair = tl.arange(0, PAIR_BLOCK)[None, :]
    if PICKED:
        row = tl.load(place + batch * place_batch + token * place_token) * PAIRS
    else:
        row = batch * row_batch + token * PAIRS
    c = tl.load(cos + row + pair, mask=pair < PAIRS, other=0.0)
    s = tl.load(sin + row + pair, mask=pair < PAIRS, other=0.0) * sign
    x += batch * x_batch + token * x_token + head * x_head
    y += batch * y_batch + token * y_token + head * y_head
    first = 2 * pair if INTERLEAVED else pair
    second = first + (1 if INTERLEAVED else PAIRS)
    inside = (head < heads) & (pair < PAIRS)
    a = tl.load(x + first, mask=inside, other=0.0).to(tl.float32)
    b = tl.load(x + second, mask=inside, other=0.0).to(tl.float32)
    tl.store(y + first, (a * c - b * s).to(y.dtype.element_ty), mask=inside)
    tl.store(y + second, (b * c + a * s).to(y.dtype.element_ty), mask=inside)
    if REST > 0:
        column = tl.arange(0, REST_BLOCK)[None, :]
        beyond = (head < heads) & (column < REST)
        tl.store(y + 2 * PAIRS + column, tl.load(x + 2 * PAIRS + column, mask=beyond), mask=beyond)
