"""Attention with the relative positions of Transformer-XL and XLNet."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gnomon.bench.attending import Attending
from gnomon.bench.cell import Candidate, Cell, Request, regime, registry, sorted_out
from gnomon.bench.children import child
from gnomon.bench.peers.installed import UNIMPORTABLE, as_reason, require
from gnomon.bench.rotations import SEED
from gnomon.bench.targets import Target
from gnomon.bench.ways import unless_missing, word
from gnomon.encodings import TransformerXL
from gnomon.kernels.relative_shift import Shift, shifted_attention
from gnomon.report.bench.results import Row

WIDTH = 64
PLAIN, OURS, TRANSFORMERS = "SDPA, no positions", "gnomon, TransformerXL", "transformers, XLNet"
GIVEN = "gnomon, vectors of distances given"
STD = 0.02


@registry.register("relative-shift")
def relative_shift(request: Request) -> Iterator[Cell]:
    """Attention to both sides with the terms of XLNet, against plain attention and transformers."""
    heads, lengths = (2, (40,)) if request.tiny else (8, (1024,)) if request.quick else (16, (512, 1024, 2048))
    for length in lengths:
        yield _cell(Attending(heads, length, WIDTH, torch.float32, causal=False), request)
    if request.tiny or not request.quick:
        yield _memory(heads, lengths[-1], request)


def way(name: str, heads: int, length: int) -> Callable[[], Tensor]:
    """A call of one way to attend at these sizes."""
    return call(name, Attending(heads, length, WIDTH, torch.float32, causal=False))


def call(name: str, sizes: Attending) -> Callable[[], Tensor]:
    """A call of one way to attend; what comes out is (1, H, L, D). No gradients."""
    if name == PLAIN:
        return partial(scaled_dot_product_attention, *sizes.inputs)
    if name == GIVEN:
        return torch.no_grad()(_given(sizes, encoding(sizes)))
    return torch.no_grad()(partial(_shifted, sizes, encoding(sizes)) if name == OURS else _xlnet(sizes))


def encoding(sizes: Attending) -> TransformerXL:
    """The terms, with the same weights for the same sizes."""
    made = TransformerXL(sizes.heads, sizes.width, dim=sizes.heads * sizes.width)
    drawn = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=STD, generator=drawn)
    return made


def _cell(sizes: Attending, request: Request) -> Cell:
    ways = [Candidate(PLAIN, call(PLAIN, sizes)), _candidate(GIVEN, sizes), _candidate(OURS, sizes)]
    candidates, missing = sorted_out(
        *ways, unless_missing(TRANSFORMERS, request, lambda: _candidate(TRANSFORMERS, sizes))
    )
    targets = [
        Target("X1", "4.5 times as fast as transformers", "speed-up", OURS, 4.5, (TRANSFORMERS,)),
        Target("X1", "error at most 4e-7", "error", OURS, 4e-7),
    ]
    if sizes.length >= 1024:
        sentence = "vectors of distances given: at most 2.2 of attention without positions"
        targets.append(Target("X1", sentence, "time", GIVEN, 2.2, (PLAIN,)))
    title = f"{word(sizes.dtype)}, {sizes}"
    largest = sizes.inputs[0].nbytes
    return Cell(title, regime(largest), candidates, tuple(targets), missing, alone=request.quick)


def _memory(heads: int, length: int, request: Request) -> Cell:
    sizes = {"heads": heads, "length": length}
    target = Target("X1", "peak at most 0.2 of that of transformers", "memory", OURS, 0.2, (TRANSFORMERS,))
    compared = not request.quick and "transformers" in request.peers
    names = (PLAIN, OURS, *((TRANSFORMERS,) if compared else ()))
    missing = () if compared else (Row(TRANSFORMERS, missing="in the full form only, where it is installed"),)
    children = tuple(child(name, __name__, "way", sizes, warm={"length": 16}) for name in names)
    return Cell(f"peak memory, float32, H{heads} L{length} D{WIDTH}", "", (), (target,), missing, children)


def _candidate(name: str, sizes: Attending) -> Candidate:
    run, added = call(name, sizes), partial(_added, sizes, _vectors(sizes))
    return Candidate(name, run, partial(sizes.error, run, added))


def _shifted(sizes: Attending, encoding: TransformerXL) -> Tensor:
    """As an attention layer runs it: vectors of all distances, made anew, and no matrix."""
    shift = Shift(sizes.length, sizes.length)
    terms = encoding.relative_terms(shift.distances(torch.device("cpu")))
    return shifted_attention(*sizes.inputs, terms, shift, scale=sizes.scale)


def _given(sizes: Attending, encoding: TransformerXL) -> Callable[[], Tensor]:
    """The attention alone: the vectors, which depend on weights and distances only, were made before."""
    shift = Shift(sizes.length, sizes.length)
    with torch.no_grad():
        terms = encoding.relative_terms(shift.distances(torch.device("cpu")))
    return partial(shifted_attention, *sizes.inputs, terms, shift, scale=sizes.scale)


def _xlnet(sizes: Attending) -> Callable[[], Tensor]:
    """What a layer of transformers does with queries, keys and values: vectors of distances, then the core."""
    require("transformers")
    with as_reason(UNIMPORTABLE):
        from transformers import XLNetConfig
        from transformers.models.xlnet.modeling_xlnet import XLNetRelativeAttention

    ours, dim = encoding(sizes), sizes.heads * sizes.width
    layer: Any = XLNetRelativeAttention(XLNetConfig(d_model=dim, n_head=sizes.heads, vocab_size=8, dropout=0.0)).eval()
    with torch.no_grad():
        layer.r.copy_(ours.projection.weight.T.view(dim, sizes.heads, sizes.width))
        layer.r_w_bias.copy_(ours.content_bias_vector)
        layer.r_r_bias.copy_(ours.position_bias_vector)
    q, k, v = (x.permute(2, 0, 1, 3).contiguous() for x in sizes.inputs)
    distances = torch.arange(sizes.length, -sizes.length, -1)
    sinusoids = _sinusoids(distances, dim).float()[:, None]

    def attend() -> Tensor:
        vectors = torch.einsum("ibh,hnd->ibnd", sinusoids, layer.r)
        heads: Tensor = layer.rel_attn_core(q, k, v, vectors)
        return heads.permute(1, 2, 0, 3)

    return attend


def _vectors(sizes: Attending) -> Tensor:
    """W R(p) for p = L - 1 down to 1 - L, from the formula in float64: (2 L - 1, H, D)."""
    ours = encoding(sizes)
    distances = torch.arange(sizes.length - 1, -sizes.length, -1)
    table = _sinusoids(distances, sizes.heads * sizes.width) @ ours.projection.weight.detach().double().T
    return table.view(-1, sizes.heads, sizes.width)


def _sinusoids(distances: Tensor, dim: int) -> Tensor:
    """Sines, then cosines: (N, dim) float64."""
    frequencies = torch.tensor(10000.0, dtype=torch.float64) ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angles = distances[:, None] * frequencies
    return torch.cat((angles.sin(), angles.cos()), dim=-1)


def _added(sizes: Attending, vectors: Tensor, head: int, rows: Tensor) -> Tensor:
    """scale (u · k + (q + v) · W R(i - j)) of some queries i and all keys j: (R, L) float64."""
    ours = encoding(sizes)
    u, v = (x[head].detach().double() for x in (ours.content_bias_vector, ours.position_bias_vector))
    q, k = (x[0, head].double() for x in sizes.inputs[:2])
    by_distance = (q[rows] + v) @ vectors[:, head].T
    places = torch.arange(sizes.length) - rows[:, None] + sizes.length - 1
    return sizes.scale * (k @ u + by_distance.gather(1, places))
