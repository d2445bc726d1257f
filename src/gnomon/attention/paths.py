"""Which way attention is computed. All ways are equal to rounding error; this is the place that decides."""

from typing import Final

import torch
from jaxtyping import Float
from torch import Tensor

from gnomon.attention import flex
from gnomon.attention.blocks import blockwise
from gnomon.attention.call import Call
from gnomon.attention.dense import dense
from gnomon.attention.strided import Form, by_runs, form_of
from gnomon.encodings.score_bias import ScoreBias
from gnomon.errors import GnomonError
from gnomon.kernels.paths import Choice
from gnomon.kernels.readable import readable

#: The paths of attention; `with ATTENTION.using("dense"): ...` forces one.
#: dense: all biases and the mask in memory, which no other path holds. strided: runs of slots, biases by distance as
#: views. blocks: any bias, a block of queries at a time. flex: FlexAttention.
ATTENTION: Final = Choice("attention", ("dense", "strided", "blocks", "flex"))

#: Up to so many logits (of all heads and rows) the dense path is as fast as any: 1 MiB in float32.
FEW: Final = 1 << 18


def attend(call: Call) -> Float[Tensor, "B H Q D"]:
    """softmax(q kᵀ scale + what the encoding adds) v over the visible keys, on the path that suits the call.

    In a graph that is traced, where no value can be read, that is the dense one. So it is for queries in scattered
    slots, for a single query, whose biases are one row, and for few logits. On a GPU FlexAttention takes what has a
    score_mod of its own; elsewhere encodings that add nothing, or what the distance decides, go run by run, and others
    in blocks of queries.
    """
    if torch.compiler.is_compiling() or call.slots is not None:
        return dense(call)
    if ATTENTION.forced is not None:
        return _forced(call, ATTENTION.forced)
    if call.queries == 1 or call.logits <= FEW or not _readable(call):
        return dense(call)
    form = form_of(call)
    if call.q.device.type != "cpu":
        return _on_accelerator(call, form)
    return blockwise(call) if form is Form.OTHER else by_runs(call, form)


def _on_accelerator(call: Call, form: Form) -> Tensor:
    """Reading positions and masks would wait for the device: nothing is split into runs."""
    plain = call.sees_all_before or (call.context.mask.is_open and call.sight.reach == (None, None))
    if form is Form.NOTHING and plain:
        return dense(call)
    own = isinstance(call.encoding, ScoreBias) and type(call.encoding).score_mod is not ScoreBias.score_mod
    if (own or form is Form.NOTHING) and call.q.is_cuda and call.q.dtype != torch.float64 and call.q.shape[-1] >= 16:
        return flex.flexible(call, adds_nothing=form is Form.NOTHING)
    return blockwise(call)


def _readable(call: Call) -> bool:
    mask = call.context.mask
    given = (call.q, call.context.keys, call.context.values, call.positions, call.context.positions)
    return readable(*given, *(part for part in (mask.real, mask.documents) if part is not None))


def _forced(call: Call, path: str) -> Tensor:
    if path == "dense":
        return dense(call)
    if not _readable(call):
        raise GnomonError(f"Attention cannot take its path {path!r}: values cannot be read in a graph; force none.")
    if path == "blocks":
        return blockwise(call)
    form = form_of(call)
    if path == "flex":
        return flex.flexible(call, adds_nothing=form is Form.NOTHING)
    if form is Form.OTHER:
        raise GnomonError(
            f"Attention cannot take its path 'strided': {call.encoding} adds to logits more than the distance decides; "
            f"force 'blocks', or none."
        )
    return by_runs(call, form)
