"""An encoder with T5's bias (Raffel et al. 2020, arXiv:1910.10683, section 2.1), from a matrix to none."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, final

import torch
from torch import Tensor
from torch.nn.functional import embedding, scaled_dot_product_attention

from gnomon.bench.long_context.step import Kept, Memory, Step
from gnomon.bench.rotations import SEED
from gnomon.encodings import T5Bias
from gnomon.kernels.band import distances
from gnomon.kernels.toeplitz import toeplitz_attention

HEADS, BUCKETS, FARTHEST = 12, 32, 128
ROWS = 512  #: queries of one block, where the bias is taken in blocks


@final
class NoPositions(Step):
    """The limit: attention that knows no order."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v)

    def alone(self, q: Tensor, k: Tensor) -> object:
        return None


@final
class Matrix(Step):
    """A bias for all pairs, added to a mask of padding, as (1, H, L, L) in `dtype`.

    In float32 it is the mask of one attention. In half precision, blocks of queries read it, each in float32.
    """

    def __init__(self, kept: Kept, dtype: torch.dtype = torch.float32) -> None:
        self._dtype, self._weight = dtype, weight()
        self._memory = Memory(kept, self._made)
        self.memories = (self._memory,)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        bias = self._bias(q)
        if bias.dtype == q.dtype:
            return scaled_dot_product_attention(q, k, v, attn_mask=bias)
        out = torch.empty_like(q)
        for start in range(0, q.shape[2], ROWS):
            rows = slice(start, start + ROWS)
            out[:, :, rows] = scaled_dot_product_attention(q[:, :, rows], k, v, attn_mask=bias[:, :, rows].to(q.dtype))
        return out

    def alone(self, q: Tensor, k: Tensor) -> object:
        return self._bias(q)

    def _bias(self, q: Tensor) -> Tensor:
        bias = self._memory.of(q.shape[2])
        assert isinstance(bias, Tensor)
        return bias

    def _made(self, length: int) -> Tensor:
        """In float32 at once; in half precision in blocks, so that it is never there in float32."""
        if self._dtype == torch.float32:
            return self._rows(slice(0, length), length)
        bias = torch.empty(1, HEADS, length, length, dtype=self._dtype)
        for start in range(0, length, ROWS):
            rows = slice(start, min(start + ROWS, length))
            bias[:, :, rows] = self._rows(rows, length)
        return bias

    def _rows(self, rows: slice, length: int) -> Tensor:
        """In the usual way: distances of all pairs, their buckets by logarithms, numbers looked up, mask added."""
        places = torch.arange(length)
        relative = places[None, :] - places[rows, None]
        bias = embedding(_buckets(relative), self._weight).permute(2, 0, 1)[None]
        padding = torch.zeros(1, 1, 1, length)
        return bias + padding


@final
class ByDistance(Step):
    """gnomon: a number for each distance, and attention that needs no matrix."""

    def __init__(self) -> None:
        self._encoding = T5Bias(HEADS, num_buckets=BUCKETS, max_distance=FARTHEST)
        self._encoding.weight.data = weight()

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return toeplitz_attention(q, k, v, self._numbers(q.shape[2]), offset=0, scale=q.shape[-1] ** -0.5)

    def alone(self, q: Tensor, k: Tensor) -> object:
        return self._numbers(q.shape[2])

    def _numbers(self, length: int) -> Tensor:
        steps = distances(length, length, offset=0)
        return self._encoding.by_distance(torch.arange(steps.start, steps.stop))


def weight() -> Tensor:
    """(buckets, heads), the same each time."""
    return torch.randn(BUCKETS, HEADS, generator=torch.Generator().manual_seed(SEED))


def _buckets(relative: Tensor) -> Tensor:
    side = BUCKETS // 2
    exact, distance = side // 2, relative.abs()
    grown = torch.log(distance.float() / exact) / math.log(FARTHEST / exact) * (side - exact)
    wide = (exact + grown.clamp_min(0).long()).clamp_max(side - 1)
    return (relative > 0) * side + torch.where(distance < exact, distance, wide)


NAIVE, LIMIT, OURS = "bias made in every layer", "no positions at all", "gnomon: no matrix"
EXACT = NAIVE  #: whose output the others are held against
KEPT, IN_HALF = "bias kept", "bias kept in bfloat16, read in blocks"
FULL_ONLY: Final = (KEPT, IN_HALF, LIMIT)  #: steps that the quick form leaves out
STEPS: Final[Mapping[str, Callable[[], Step]]] = {
    NAIVE: partial(Matrix, "never", torch.float32),
    KEPT: partial(Matrix, "always", torch.float32),
    IN_HALF: partial(Matrix, "always", torch.bfloat16),
    OURS: ByDistance,
    LIMIT: NoPositions,
}
