"""Attention through FlexAttention: one kernel that is told by functions what to add to a logit and what to hide.

He et al. 2024, arXiv:2412.05496; `torch.nn.attention.flex_attention`. It is compiled at its first use.
"""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.attention.call import Call
from gnomon.encodings.score_bias import ScoreBias
from gnomon.errors import GnomonError

if TYPE_CHECKING:
    from torch.nn.attention.flex_attention import BlockMask

#: (batch, head, query, key) -> bool
MaskMod = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def why_not(call: Call, *, adds_nothing: bool) -> str | None:
    """Why FlexAttention cannot do this call; None when it can."""
    if not (adds_nothing or isinstance(call.encoding, ScoreBias)):
        return f"{call.encoding} has no score_mod"
    if call.q.device.type == "cpu" and torch.is_grad_enabled() and _wants_gradient(call):
        return "FlexAttention has no gradients of queries, keys and values on CPU"
    return None


def flexible(call: Call, *, adds_nothing: bool) -> Float[Tensor, "B H Q D"]:
    """The same as `dense`, with the encoding's `score_mod` and the visibility of `call` as a `mask_mod`."""
    reason = why_not(call, adds_nothing=adds_nothing)
    if reason is not None:
        raise GnomonError(f"Attention cannot take its path 'flex': {reason}; force another one, or none.")
    from torch.nn.attention.flex_attention import flex_attention  # brings torch's compiler

    score_mod = None
    if isinstance(call.encoding, ScoreBias):
        score_mod = call.encoding.score_mod(call.positions, call.context.positions)
    backend = "eager" if call.q.device.type == "cpu" else "inductor"
    out: Tensor = _compiled(flex_attention, backend)(
        call.q,
        call.context.keys,
        call.context.values,
        score_mod=score_mod,
        block_mask=_block_mask(call),
        scale=call.scale,
        enable_gqa=call.groups > 1,
    )
    return out


@cache
def _compiled(function: Callable[..., Any], backend: str) -> Callable[..., Any]:
    """On CPU without a compiler for kernels, which a test does not need."""
    return torch.compile(function, backend=backend)


def _wants_gradient(call: Call) -> bool:
    return any(x.requires_grad for x in (call.q, call.context.keys, call.context.values))


def _block_mask(call: Call) -> "BlockMask | None":
    from torch.nn.attention.flex_attention import create_block_mask

    if call.context.mask.is_open and call.sight.reach == (None, None):
        return None
    sizes = (len(call.q), None, call.queries, call.keys)
    # Uncompiled it makes the whole mask first.
    make = create_block_mask if call.q.device.type == "cpu" else _compiled(create_block_mask, "inductor")
    made: BlockMask = make(_visible(call), *sizes, device=call.q.device)
    return made


def _visible(call: Call) -> MaskMod:
    """What `gnomon.attention.allowed` says, for one query and one key."""
    from torch.nn.attention.flex_attention import and_masks, or_masks

    real, documents, first = call.context.mask.real, call.context.mask.documents, call.first
    least, greatest = call.sight.reach

    def within(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        ahead = key - query - first
        low = ahead == ahead if least is None else ahead >= least
        return low if greatest is None else low & (ahead <= greatest)

    def is_real(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key == key) if real is None else real[batch, key]

    def same_document(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return (key == key) if documents is None else documents[batch, query + first] == documents[batch, key]

    def itself(batch: Tensor, head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        return key == query + first

    together: MaskMod = or_masks(and_masks(within, is_real, same_document), itself)
    return together
