"""What attention layers add to the logits before the softmax, and how they hide keys from it."""

from functools import reduce

import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor

from gnomon.encodings.base import PositionEncoding
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.precision import narrow
from gnomon.kernels.relative_shift import RelativeTerms


def added_bias(
    encoding: PositionEncoding,
    q: Float[Tensor, "B H Q D"],
    k: Float[Tensor, "B H K D"],
    positions: tuple[Int[Tensor, "#B Q *axes"], Int[Tensor, "#B K *axes"]],
    visible: Bool[Tensor, "#B 1 Q K"] | None,
) -> Float[Tensor, "#B H Q K"] | None:
    """The sum of what the two bias hooks give for positions of queries and keys; None when both add nothing.

    Rows that share their positions share one bias.
    """
    told = (visible,) if encoding.needs_visible else ()
    shared = [p[:1] if p.stride(0) == 0 else p for p in positions]  # rows that agree are one row, expanded
    given = (encoding.bias(*shared), encoding.content_bias(q, k, *positions, *told))
    parts = [part for part in given if part is not None]
    expected = (q.shape[1], q.shape[2], k.shape[2])
    for part in parts:
        if tuple(part.shape[1:]) != expected or part.shape[0] not in (1, q.shape[0]):
            raise ShapeError(
                f"{encoding} gave a bias of shape {tuple(part.shape)}, attention needs (batch, heads, query, "
                f"key) = {(q.shape[0], *expected)}; build the encoding for num_heads={q.shape[1]}."
            )
    return reduce(torch.add, parts) if parts else None


def terms_at(encoding: PositionEncoding, relative: Int64[Tensor, " N"], dtype: torch.dtype) -> RelativeTerms:
    """The relative terms of an encoding that has them, in float32 or better, for queries of this dtype."""
    terms = encoding.relative_terms(relative, dtype=torch.promote_types(dtype, torch.float32))
    if terms is None:
        raise GnomonError(f"{encoding} gives relative_terms for some distances only; give them for all, or for none.")
    return terms


def softmax_mask(bias: Tensor | None, visible: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """One mask for the softmax: bool when there is no bias, else the bias in the dtype of q with -inf where hidden.

    The largest number of each row is moved to zero before the cast. The softmax does not see it, and half precision
    keeps its digits for the keys that matter: a causal ALiBi bias of +1000 would lose the difference of neighbours.
    Each row needs a visible key.
    """
    if bias is None:
        return visible
    if visible is not None:
        bias = bias.masked_fill(~visible, -torch.inf)
    return narrow(bias, dtype)
