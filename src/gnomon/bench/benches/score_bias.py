"""Attention with a bias by distance."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gnomon.bench.attending import Attending, causal_mask
from gnomon.bench.cell import Candidate, Cell, Request, regime, registry
from gnomon.bench.children import child
from gnomon.bench.memory import available
from gnomon.bench.targets import Target
from gnomon.bench.ways import asked, word
from gnomon.encodings import ALiBi
from gnomon.kernels.band import distances
from gnomon.kernels.toeplitz import toeplitz_attention
from gnomon.report.bench.results import Row

WIDTH = 64
PLAIN, OURS, CACHED, BUILT = "SDPA, no bias", "gnomon, ALiBi", "SDPA, bias kept", "SDPA, bias built"
NAIVE, FLEX = "softmax(q k + bias) v, built", "FlexAttention, compiled"
INPUTS = "q, k and v"
#: Largest errors that are rounding alone: the weights of bfloat16 are rounded before they meet the values.
ROUNDING: Final = {torch.float32: 2e-6, torch.bfloat16: 1.6e-2}
LONGEST_NAIVE = 4096
COPIES = 4  #: of a bias of all pairs, that there is room for where it is made


@registry.register("score-bias")
def score_bias(request: Request) -> Iterator[Cell]:
    """Causal attention with ALiBi against plain causal attention, and against a bias for all pairs."""
    heads = 2 if request.tiny else 8 if request.quick else 16
    lengths = (70,) if request.tiny else (2048,) if request.quick else (2048, 4096, 8192)
    for length in lengths:
        for dtype in (torch.float32, torch.bfloat16):
            yield _cell(Attending(heads, length, WIDTH, dtype, causal=True), request)
    yield _memory(heads, lengths[-1], (OURS, BUILT) if request.quick else (PLAIN, OURS, BUILT))


def way(name: str, heads: int, length: int, dtype: str = "float32") -> Callable[[], Tensor]:
    """A call of one way to attend at these sizes."""
    return call(name, Attending(heads, length, WIDTH, getattr(torch, dtype), causal=True))


def call(name: str, sizes: Attending) -> Callable[[], Tensor]:
    """A call of one way to attend."""
    (q, k, v), encoding = sizes.inputs, ALiBi(sizes.heads)
    attend = partial(scaled_dot_product_attention, q, k, v)
    if name == PLAIN:
        return partial(attend, is_causal=True)
    if name == OURS:
        return partial(_by_distance, sizes, encoding)
    if name == FLEX:
        return _flex(sizes, encoding)
    if name == CACHED:
        return partial(attend, attn_mask=_bias(sizes, encoding))
    if name == BUILT:
        return lambda: attend(attn_mask=_bias(sizes, encoding))
    return lambda: (q @ k.mT * sizes.scale + _bias(sizes, encoding)).softmax(-1) @ v


def _cell(sizes: Attending, request: Request) -> Cell:
    names = (PLAIN, OURS, CACHED, BUILT, NAIVE, FLEX)
    reasons = {name: _left_out(name, sizes, request) for name in names}
    candidates = tuple(_candidate(name, sizes) for name in names if not reasons[name])
    missing = tuple(Row(name, missing=reason) for name, reason in reasons.items() if reason)
    title = f"{word(sizes.dtype)}, {sizes}, causal"
    targets = tuple(_targets(sizes))
    return Cell(title, regime(sizes.inputs[0].nbytes), candidates, targets, missing, alone=request.quick)


def _left_out(name: str, sizes: Attending, request: Request) -> str:
    """Why a way is not part of this run; empty where it is."""
    short, single = sizes.length <= LONGEST_NAIVE, sizes.dtype == torch.float32
    if name == FLEX:
        return "compiled in the full form only" if request.quick else "" if short else f"L {LONGEST_NAIVE} at most"
    if name in (CACHED, BUILT) and available() < COPIES * 4 * sizes.heads * sizes.length**2:
        return "too little free memory for a bias of all pairs"
    if name == NAIVE and not (short and single):
        return f"takes minutes; float32 and L {LONGEST_NAIVE} at most"
    return "in the full form only" if name == BUILT and request.quick and not single else ""


def _candidate(name: str, sizes: Attending) -> Candidate:
    slopes = torch.tensor([0.0] * sizes.heads if name == PLAIN else ALiBi(sizes.heads).slopes, dtype=torch.float64)
    keys = torch.arange(sizes.length)

    def added(head: int, rows: Tensor) -> Tensor:
        return -slopes[head] * (rows[:, None] - keys).abs()

    run = call(name, sizes)
    error = partial(sizes.error, run, added)
    return Candidate(name, run, partial(asked, error) if name == FLEX else error)


def _targets(sizes: Attending) -> Iterator[Target]:
    if sizes.length >= 2048:
        yield Target("A1", "at most 1.15 of plain causal attention", "time", OURS, 1.15, (PLAIN,))
    yield Target("A1", "3.5 times as fast as with the bias built", "speed-up", OURS, 3.5, (BUILT,))
    yield Target("A1", "1.6 times as fast as with the bias kept", "speed-up", OURS, 1.6, (CACHED,))
    if sizes.dtype == torch.float32:
        yield Target("A1", "10 times as fast as a softmax of all logits", "speed-up", OURS, 10, (NAIVE,))
    yield Target("A1", "1.8 times as fast as compiled FlexAttention", "speed-up", OURS, 1.8, (FLEX,))
    yield Target("A1", f"error at most {ROUNDING[sizes.dtype]}", "error", OURS, ROUNDING[sizes.dtype])


def _memory(heads: int, length: int, names: tuple[str, ...]) -> Cell:
    target = Target("A1", "extra memory at most twice that of q, k and v", "memory", OURS, 2.0, (INPUTS,))
    sizes = {"heads": heads, "length": length}
    children = tuple(child(name, __name__, "way", sizes, warm={"length": 16}) for name in names)
    given = (Row(INPUTS, peak=3 * heads * length * WIDTH * 4),)
    return Cell(f"peak memory, float32, H{heads} L{length} D{WIDTH}, causal", "", (), (target,), (), children, given)


def _by_distance(sizes: Attending, encoding: ALiBi) -> Tensor:
    """As an attention layer runs it: numbers for each distance, made anew, and no matrix."""
    length, reach = sizes.length, (None, 0)
    steps = distances(length, length, offset=0, reach=reach)
    numbers = encoding.by_distance(torch.arange(steps.start, steps.stop))
    return toeplitz_attention(*sizes.inputs, numbers, offset=0, scale=sizes.scale, reach=reach)


def _bias(sizes: Attending, encoding: ALiBi) -> Tensor:
    """The bias of all pairs with the causal mask, (1, H, L, L), in the dtype of the queries."""
    positions = torch.arange(sizes.length)[None]
    return (encoding.bias(positions, positions) + causal_mask(sizes.length)).to(sizes.dtype)


def _flex(sizes: Attending, encoding: ALiBi) -> Callable[[], Tensor]:
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    positions = torch.arange(sizes.length)[None]
    shown = create_block_mask(
        lambda b, h, i, j: i >= j, None, None, sizes.length, sizes.length, device="cpu", _compile=False
    )
    torch.compiler.reset()  # or the compiler gives up after some shapes, without a word
    compiled: Any = torch.compile(flex_attention, dynamic=False)
    options = {"score_mod": encoding.score_mod(positions, positions), "block_mask": shown, "scale": sizes.scale}
    return torch.no_grad()(partial(compiled, *sizes.inputs, **options))
