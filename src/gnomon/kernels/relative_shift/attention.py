"""The attention itself, block by block, forwards and backwards."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import scaled_dot_product_attention

from gnomon.errors import ShapeError
from gnomon.kernels.precision import full_precision, narrow
from gnomon.kernels.relative_shift.mask import Mask, Plan, Visible
from gnomon.kernels.relative_shift.shift import Shift
from gnomon.kernels.relative_shift.slopes import Slopes
from gnomon.kernels.relative_shift.terms import RelativeTerms


@final
@dataclass(frozen=True, eq=False)
class Added:
    """More to add to logits: function(rows, keys, *tensors) -> something that broadcasts to (B, H, rows, keys).

    It is called for one block at a time, and again in the backward pass. Gradients reach the `tensors` alone.
    """

    function: Callable[..., Tensor]
    tensors: tuple[Tensor, ...]


def shifted_attention(
    q: Float[Tensor, "B H Q D"],
    k: Float[Tensor, "B H K D"],
    v: Float[Tensor, "B H K V"],
    terms: RelativeTerms,
    shift: Shift,
    *,
    scale: float,
    visible: Visible | None = None,
    added: Added | None = None,
) -> Float[Tensor, "B H Q V"]:
    """softmax(scale q·k + terms + added) v, where positions count up by one. (B, H, Q, D), (B, H, K, D) -> as q.

    The vectors of the terms are those of `shift.distances(q.device)`, in float32, or float64 for a float64 q; there is
    a key head for each query head. `visible` hides more keys than the reach of the shift does; a query that sees none
    gets zeros, and gives none of its gradient to anything. Not for graphs that are traced: blocks are many.

    Memory grows with Q + K, forwards and backwards: a block of (H, 128, K) logits is held at a time, and made again for
    gradients. Logits are float32 or better whatever q is.

    How an attention layer calls it, for `encoding.relative_terms`, which is None for encodings that have none:

        shift = Shift(Q, K, offset=first_slot, before=None, after=0 if causal else None)
        terms = encoding.relative_terms(shift.distances(q.device), dtype=torch.promote_types(q.dtype, torch.float32))
        heads = shifted_attention(q, k, v, terms, shift, scale=scale)

    >>> shift = Shift(queries=5, keys=5, after=0)
    >>> q, vectors = torch.randn(1, 2, 5, 4), torch.randn(2, len(shift.distances(torch.device("cpu"))), 4)
    >>> shifted_attention(q, q, q, RelativeTerms(vectors, None, None, scale=0.5), shift, scale=0.5).shape
    torch.Size([1, 2, 5, 4])
    """
    _check(q, k, terms, shift)
    exact = terms.vectors.dtype
    with full_precision(q.device):
        asked, by_key = terms.asked(q), None
        if terms.key_vector is not None and (q.dtype, scale) == (exact, terms.scale):
            q = q + terms.key_vector[:, None]
        else:
            by_key = terms.by_key(k)
        grouped = asked.flatten(0, 1)[None] if len(terms.vectors) == 1 else asked.transpose(0, 1)
        plan = Plan(shift, scale, visible, None if added is None else added.function)
        more = () if added is None else added.tensors
        result: Tensor = _Attention.apply(plan, q, k, v, grouped, terms.vectors.contiguous(), by_key, *more)
        return result


@final
class _Attention(torch.autograd.Function):
    """Blocks of the forward pass, and of the backward pass with their logits made anew."""

    @staticmethod
    def forward(ctx: Any, plan: Plan, q: Tensor, k: Tensor, v: Tensor, *given: Any) -> Tensor:
        asked, vectors, by_key, *more = given
        ctx.plan = plan
        ctx.save_for_backward(q, k, v, *given)
        mask = Mask(plan, len(q), asked, vectors, by_key, more)
        out = v.new_empty(q.shape[0], q.shape[2], q.shape[1], v.shape[3]).transpose(1, 2)
        for block in plan.shift.blocks():
            bias, blind = mask.of(block)
            seen_k, seen_v = k[:, :, block.keys], v[:, :, block.keys]
            taken = bias if bias.device.type == "cpu" else narrow(bias, q.dtype)
            rows = scaled_dot_product_attention(q[:, :, block.rows], seen_k, seen_v, attn_mask=taken, scale=plan.scale)
            out[:, :, block.rows] = rows if blind is None else rows.masked_fill(blind, 0.0)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        q, k, v, asked, vectors, by_key, *more = ctx.saved_tensors
        slopes = Slopes(ctx.plan, (q, k, v), (asked, vectors, by_key), more)
        for block in ctx.plan.shift.blocks():
            slopes.add(block, grad[:, :, block.rows])
        return (None, *slopes.of_inputs())


def _check(q: Tensor, k: Tensor, terms: RelativeTerms, shift: Shift) -> None:
    got = (q.shape[2], k.shape[2], terms.vectors.shape[1])
    want = (shift.queries, shift.keys, shift.last - shift.first + 1)
    if got != want:
        raise ShapeError(
            f"The shift is for (queries, keys, distances) = {want}, the tensors have {got}; give the vectors of "
            f"shift.distances(device)."
        )
    if k.shape[1] != q.shape[1] or terms.vectors.shape[0] not in (1, q.shape[1]):
        raise ShapeError(
            f"There are {q.shape[1]} query heads, {k.shape[1]} key heads and vectors for {terms.vectors.shape[0]} "
            f"heads; repeat keys and values for each query head, and give vectors for all heads or for each."
        )
