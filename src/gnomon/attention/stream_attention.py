"""The attention of one stream of queries over the keys of both, in blocks: no number for each query and key is kept."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int, Int64
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from gnomon.attention.kept import copied, copyable, watched
from gnomon.attention.logits import added_bias, softmax_mask, terms_at
from gnomon.attention.segments import SegmentScores, between
from gnomon.attention.slots import owned
from gnomon.encodings.base import PositionEncoding
from gnomon.kernels.readable import readable
from gnomon.kernels.relative_shift import Added, Shift, shifted_attention

BLOCK = 128  #: how many queries are taken at a time


@final
@dataclass(frozen=True, eq=False)
class Stream:
    """Queries and keys, both rotated, where they stand, what is visible, and what segments add."""

    q: Float[Tensor, "B H N D"]
    k: Float[Tensor, "B H K D"]
    v: Float[Tensor, "B H K D"]
    positions: Int[Tensor, "#B N *axes"]
    key_positions: Int[Tensor, "#B K *axes"]
    visible: Bool[Tensor, "#B 1 N K"]
    segments: SegmentScores | None = None

    def rows(self, index: Int64[Tensor, " R"]) -> "Stream":
        """Some rows of the batch."""
        if len(index) == len(self.q):
            return self
        parts = (self.q, self.k, self.v, self.positions, self.key_positions, self.visible)
        q, k, v, positions, key_positions, visible = (_rows(part, index) for part in parts)
        segments = None
        if self.segments is not None:
            segments = SegmentScores(*(_rows(part, index) for part in self.segments.tensors))
        return Stream(q, k, v, positions, key_positions, visible, segments)

    def kept(self) -> "Stream":
        """With positions and segments of its own, which nobody writes over before the backward pass."""
        positions, key_positions = (owned(each) for each in (self.positions, self.key_positions))
        segments = self.segments
        if segments is not None:
            ids = (owned(each) for each in (segments.query_segments, segments.key_segments))
            segments = SegmentScores(segments.same, segments.other, *ids)
        return replace(self, positions=positions, key_positions=key_positions, segments=segments)


def attend(encoding: PositionEncoding, stream: Stream, *, scale: float) -> Float[Tensor, "B H N D"]:
    """softmax(scale q·k + what encoding and segments add) v; a query that sees nothing gets zeros.

    Rows whose positions count up or down by one, of queries and keys alike, take the relative shift, if the encoding
    has it; memory then grows with the length. Other rows, and other encodings, are taken in blocks of queries, whose
    logits are made again for gradients. A traced graph has no blocks: it is for one length or for all.
    """
    if not readable(stream.q, stream.k, stream.v, stream.positions, stream.key_positions, stream.visible):
        return _dense(encoding, stream, slice(None), scale)
    if torch.is_grad_enabled():
        stream = stream.kept()
    if not _has_terms(encoding, stream):
        return _in_blocks(encoding, stream, scale)
    groups = list(_counting(stream.positions, stream.key_positions, len(stream.q)))
    parts = []
    for (step, offset), index in groups:
        part = stream.rows(index)
        parts.append(_shifted(encoding, part, step, offset, scale) if step else _in_blocks(encoding, part, scale))
    return parts[0] if len(parts) == 1 else torch.cat(parts)[torch.cat([index for _, index in groups]).argsort()]


class Count(NamedTuple):
    """Positions are start + step x slot, and the first query stands in this slot of the keys; a step of 0 is neither
    up nor down by one."""

    step: int
    offset: int


def _counting(
    positions: Int[Tensor, "#B N"], key_positions: Int[Tensor, "#B K"], batch: int
) -> Iterator[tuple[Count, Int64[Tensor, " R"]]]:
    """How the positions of each row of the batch count, and which rows do so."""
    shared = all(len(each) == 1 or each.stride(0) == 0 for each in (positions, key_positions))
    given = [each[:1] if shared else each.expand(batch, -1) for each in (positions, key_positions)]
    steps = [each.diff(dim=-1).tolist() for each in given]
    starts = (given[0][:, 0] - given[1][:, 0]).tolist()
    counts: dict[Count, list[int]] = {}
    for row, (queries, keys, start) in enumerate(zip(*steps, starts, strict=True)):
        found = {*queries, *keys} or {1}
        step = found.pop()
        count = Count(step, step * start) if not found and abs(step) == 1 else Count(0, 0)
        counts.setdefault(count, []).append(row)
    for count, rows in counts.items():
        yield count, torch.tensor(range(batch) if shared else rows, device=positions.device)


def _has_terms(encoding: PositionEncoding, stream: Stream) -> bool:
    """Whether all that the encoding adds to logits are its relative terms; asked for one query and one key."""
    if encoding.axes > 1 or encoding.bias(stream.positions[:1, :1], stream.key_positions[:1, :1]) is not None:
        return False
    return encoding.relative_terms(stream.positions[0, :0]) is not None


def _shifted(
    encoding: PositionEncoding, stream: Stream, step: int, offset: int, scale: float
) -> Float[Tensor, "B H N D"]:
    shift = Shift(stream.q.shape[2], stream.k.shape[2], offset=offset, block=BLOCK)
    terms = terms_at(encoding, step * shift.distances(stream.q.device), stream.q.dtype)
    check = watched(stream.visible)

    def visible(queries: slice, keys: slice) -> Bool[Tensor, "#B 1 n k"]:
        check()
        return stream.visible[:, :, queries, keys]

    added = None if stream.segments is None else Added(between, stream.segments.tensors)
    return shifted_attention(stream.q, stream.k, stream.v, terms, shift, scale=scale, visible=visible, added=added)


def _in_blocks(encoding: PositionEncoding, stream: Stream, scale: float) -> Float[Tensor, "B H N D"]:
    length = stream.q.shape[2]
    if length <= BLOCK:
        return _dense(encoding, stream, slice(0, length), scale)
    attend_block = partial(_dense, encoding, stream, scale=scale)
    if torch.is_grad_enabled() and copyable(encoding):
        attend_block = partial(
            checkpoint, _again(encoding, stream, scale), use_reentrant=False, preserve_rng_state=False
        )
    return torch.cat(
        [attend_block(slice(start, min(start + BLOCK, length))) for start in range(0, length, BLOCK)], dim=2
    )


def _again(encoding: PositionEncoding, stream: Stream, scale: float) -> Callable[[slice], Tensor]:
    """`_dense` that gives the same whenever it is called, or raises GnomonError."""
    states: list[Tensor] = []

    def noted(tensor: Tensor) -> Tensor:
        states.append(tensor)
        return tensor

    kept = copied(encoding, noted)
    check = watched(stream.q, stream.k, stream.v, stream.visible, *states)

    def attend_block(queries: slice) -> Tensor:
        check()
        return _dense(kept, stream, queries, scale)

    return attend_block


def _dense(encoding: PositionEncoding, stream: Stream, queries: slice, scale: float) -> Float[Tensor, "B H n D"]:
    """The attention of some of the queries."""
    q, visible = stream.q[:, :, queries], stream.visible[:, :, queries]
    # A softmax over nothing is NaN, and so are its gradients: let those rows see all, and drop what they saw.
    blind = ~visible.any(-1, keepdim=True)
    visible = visible | blind
    bias = added_bias(encoding, q, stream.k, (stream.positions[:, queries], stream.key_positions), visible)
    if stream.segments is not None:
        by_segment = stream.segments.bias(queries)
        bias = by_segment if bias is None else bias + by_segment
    mask = softmax_mask(bias, visible, q.dtype)
    return scaled_dot_product_attention(q, stream.k, stream.v, attn_mask=mask, scale=scale).masked_fill(blind, 0.0)


def _rows(part: Tensor, index: Int64[Tensor, " R"]) -> Tensor:
    return part if len(part) == 1 else part[index]
