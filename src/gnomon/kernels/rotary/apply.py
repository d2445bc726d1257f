"""The rotation of queries and keys: Su et al. 2021, arXiv:2104.09864, section 3.4.2."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from gnomon.errors import GnomonError
from gnomon.kernels import native
from gnomon.kernels.readable import readable
from gnomon.kernels.rotary.at_once import at_once
from gnomon.kernels.rotary.choosing import ROTATION, chosen
from gnomon.kernels.rotary.kernel import straight
from gnomon.kernels.rotary.path import Request, tensors_in
from gnomon.kernels.rotary.shapes import checked_turn, heads_first
from gnomon.kernels.rotary.writing import require_apart, require_like, require_unrecorded
from gnomon.kernels.rotation import Layout

Rotated = Tensor | tuple[Tensor, Tensor]


def apply_rotary(
    q: Float[Tensor, "_B _H _S _D"],
    k: Float[Tensor, "_B _G _S _D"] | None = None,
    *,
    cos: Float[Tensor, "*rows P"],
    sin: Float[Tensor, "*rows P"],
    layout: Layout,
    positions: Int64[Tensor, "*#B S"] | None = None,
    sequence_dim: int = -2,
    out: Rotated | None = None,
    inplace: bool = False,
) -> Rotated:
    """Turn pair i of q, and of k, by the angle of its token: (a, b) -> (a cos - b sin, b cos + a sin).

    q is (B, H, S, D) and k (B, G, S, D), in any floating dtype and with any strides; `sequence_dim=1` takes
    (B, S, H, D) and (B, S, G, D). The first 2 P columns turn and the rest passes through. Pair i is columns (i, i + P)
    in layout "half" and (2 i, 2 i + 1) in "interleaved".

    `cos` and `sin` are of angles in radians, float32 (or float64, for q in float64), possibly times an attention
    factor. With `positions`, int64 (B, S), (1, S) or (S), they are tables (T, P) with a row for each position; without,
    they are (B, S, P), (1, S, P) or (S, P), a row for each token. Arithmetic is in float32 or better, and results are
    rounded once to the dtype of q.

    Returns q, or (q, k), in the shape and the order in memory that they came in. `out`, a tensor or a pair, is written
    into and returned; with `inplace` q and k are. Both raise GnomonError, before anything is written, while autograd
    records the tensors, and where memory is shared or overlaps itself. A position outside the table raises
    PositionError (where reading it would stall an accelerator, the device reports it instead).

    Differentiable any number of times, by the same kernel with -sin; nothing of q and k is kept for the backward pass.

    >>> import torch
    >>> q = torch.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 1, 1, 4)
    >>> quarter = {"cos": torch.zeros(1, 2), "sin": torch.ones(1, 2)}
    >>> apply_rotary(q, **quarter, layout="half").flatten().tolist()
    [-3.0, -4.0, 1.0, 2.0]
    >>> apply_rotary(q, **quarter, layout="interleaved", inplace=True) is q, q.flatten().tolist()
    (True, [-2.0, 1.0, -4.0, 3.0])
    """
    given = (q,) if k is None else (q, k)
    into = _into(given, out, inplace)
    if native.AVAILABLE and not torch.compiler.is_compiling() and ROTATION.forced is None:
        done = at_once(given, into, (cos, sin, positions), layout, sequence_dim)
        if done is not None:
            return done[0] if k is None else done  # type: ignore[return-value]
    sources = tuple(heads_first(x, name, sequence_dim) for name, x in zip(("q", "k"), given, strict=False))
    turn = checked_turn(cos, sin, positions, layout, sources)
    if into is None:
        request = Request(sources, None, turn)
        results = chosen(request).turned(sources, turn)
        results = results if sequence_dim in (-2, 2) else tuple(result.transpose(1, 2) for result in results)
    else:
        views = tuple(heads_first(x, "out", sequence_dim) for x in into)
        _write(Request(sources, views, turn))
        results = into
    return results[0] if k is None else (results[0], results[1])


def _into(given: tuple[Tensor, ...], out: Rotated | None, inplace: bool) -> tuple[Tensor, ...] | None:
    """The tensors to write into; None for fresh memory."""
    if out is None:
        return given if inplace else None
    if inplace:
        raise GnomonError("A rotation is either in place or into out; pass one of inplace=True and out.")
    into = (out,) if isinstance(out, Tensor) else tuple(out)
    if len(into) != len(given):
        raise GnomonError(f"out is one tensor for q alone and a pair for q and k; got {len(into)} for {len(given)}.")
    for name, x, place in zip(("q", "k"), given, into, strict=False):
        require_like(name, x, place)
    return into


def _write(request: Request) -> None:
    require_unrecorded(request)
    if readable(*tensors_in(request)):
        require_apart(request)
    sources = (straight(source) for source in request.sources)
    pairs = tuple(zip(sources, request.destinations or (), strict=True))
    chosen(request).write(pairs, request.turn)
