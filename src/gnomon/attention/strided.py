"""Attention run by run, with biases by distance as strided views: no mask, and no number for each query and key."""

from collections.abc import Iterator
from enum import Enum
from itertools import pairwise
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gnomon.attention.blocks import blockwise
from gnomon.attention.call import Call
from gnomon.attention.logits import terms_at
from gnomon.attention.runs import Layout, Run, layouts
from gnomon.errors import ShapeError
from gnomon.kernels.band import distances
from gnomon.kernels.relative_shift import Shift, shifted_attention
from gnomon.kernels.toeplitz import toeplitz_attention


@final
class Form(Enum):
    """What an encoding adds to logits, as far as it matters here."""

    NOTHING = "nothing"
    DISTANCE = "a number for each distance"
    CONTENT_AND_DISTANCE = "a product of the query with a vector for each distance"
    OTHER = "anything else"


def form_of(call: Call) -> Form:
    """Read off what the hooks of the encoding give for one query and its own key.

    In the grad mode of the call: parametrized tensors that are cached for it must not come without their graph.
    """
    encoding, pair = call.encoding, call.part(0, 1, first_key=call.first, last_key=call.first + 1)
    at = pair.positions[:1]
    told = (None,) if encoding.needs_visible else ()
    bias = encoding.bias(at, at)
    content = encoding.content_bias(pair.q[:1], pair.heads()[0][:1], at, at, *told)
    here = torch.zeros(1, dtype=torch.int64, device=at.device)
    if bias is None and content is None:
        return Form.NOTHING
    if content is None and encoding.by_distance(here) is not None:
        return Form.DISTANCE
    if bias is None and encoding.relative_terms(here) is not None:
        return Form.CONTENT_AND_DISTANCE
    return Form.OTHER


def by_runs(call: Call, form: Form) -> Float[Tensor, "B H Q D"]:
    """The same as `dense`. Padding that sees real tokens, and gaps in positions or documents, are taken in blocks."""
    found = layouts(call, by_position=form is not Form.NOTHING)
    parts = [_rows(call.rows(rows), layout, form) for layout, rows in found.items()]
    order = [row for rows in found.values() for row in rows]
    if order == sorted(order):
        return parts[0] if len(parts) == 1 else torch.cat(parts)
    back = sorted(range(len(order)), key=order.__getitem__)
    return torch.cat(parts)[torch.tensor(back, device=call.q.device)]


def _rows(call: Call, layout: Layout, form: Form) -> Float[Tensor, "B H Q D"]:
    """Rows of one layout."""
    queries = call.q.split([run.end - run.start for run in layout], dim=2)
    keys, values = (_cut(x, layout) for x in (call.context.keys, call.context.values))
    parts = []
    for run, q in zip(layout, queries, strict=True):
        if run.kind == "mixed":
            slots = (run.start - call.first, run.end - call.first)
            parts.append(blockwise(call.part(*slots, first_key=run.first_key, last_key=run.last_key)))
        elif run.kind == "alone":
            parts.append(call.per_query_head(values[run.first_key]))
        else:
            parts.append(_run(call, form, q, keys[run.first_key], values[run.first_key], run.start - run.first_key))
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=2)


def _cut(x: Float[Tensor, "B G K D"], layout: Layout) -> dict[int, Tensor]:
    """Keys or values by the first slot of the run, cut at once: many slices would each have a gradient of full size."""
    ends = sorted({0, x.shape[2], *(slot for run in _own(layout) for slot in (run.first_key, run.last_key))})
    sizes = [end - start for start, end in pairwise(ends)]
    return dict(zip(ends[:-1], x.split(sizes, dim=2), strict=True))


def _own(layout: Layout) -> Iterator[Run]:
    return (run for run in layout if run.kind != "mixed")


def _run(call: Call, form: Form, q: Tensor, k: Tensor, v: Tensor, offset: int) -> Float[Tensor, "B H Q D"]:
    """Queries from slot `offset` of a run on, with its keys; positions count up by one."""
    if call.sight.causal:
        k, v = (x[:, :, : offset + q.shape[2]] for x in (k, v))
    reach = call.sight.reach
    if form is Form.NOTHING and (reach == (None, None) or (reach == (None, 0) and offset == 0)):
        shared = call.groups > 1
        return scaled_dot_product_attention(q, k, v, is_causal=call.sight.causal, scale=call.scale, enable_gqa=shared)
    if form is Form.CONTENT_AND_DISTANCE:
        return _shifted(call, q, k, v, offset)
    steps = distances(q.shape[2], k.shape[2], offset=offset, reach=reach)
    numbers = _numbers(call, steps) if form is Form.DISTANCE else q.new_zeros(1, len(steps))
    return toeplitz_attention(q, k, v, numbers, offset=offset, scale=call.scale, reach=reach)


def _numbers(call: Call, steps: range) -> Float[Tensor, "H N"]:
    numbers = call.encoding.by_distance(torch.arange(steps.start, steps.stop, device=call.q.device))
    expected = (call.q.shape[1], len(steps))
    if numbers is None or tuple(numbers.shape) != expected:
        given = None if numbers is None else tuple(numbers.shape)
        raise ShapeError(
            f"{call.encoding} gave biases by distance of shape {given}, attention needs (heads, distances) = "
            f"{expected}; build the encoding for num_heads={expected[0]}."
        )
    return numbers


def _shifted(call: Call, q: Tensor, k: Tensor, v: Tensor, offset: int) -> Float[Tensor, "B H Q D"]:
    k, v = call.per_query_head(k), call.per_query_head(v)
    least, greatest = call.sight.reach
    shift = Shift(q.shape[2], k.shape[2], offset=offset, before=None if least is None else -least, after=greatest)
    terms = terms_at(call.encoding, shift.distances(q.device), q.dtype)
    return shifted_attention(q, k, v, terms, shift, scale=call.scale)
