"""A decoder with rotary positions (Su et al. 2021, arXiv:2104.09864), from tables made in every layer to kept ones."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, final

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from gnomon.bench.attending import causal_mask
from gnomon.bench.long_context.step import Kept, Memory, Step
from gnomon.bench.rotations import BASE
from gnomon.encodings.frequencies.plain import Plain
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.tables import cos_sin_rows

WIDTH = 64  #: of a head


@final
class NoPositions(Step):
    """The limit: causal attention without rotation or mask."""

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    def alone(self, q: Tensor, k: Tensor) -> object:
        return None


@final
class Tables(Step):
    """cos and sin of the whole width of a head, rotation by a turned copy, and a causal mask for all pairs."""

    def __init__(self, kept: Kept, dtype: torch.dtype = torch.float32) -> None:
        self._dtype = dtype
        self._tables, self._mask = Memory(kept, self._made), Memory(kept, causal_mask)
        self.memories = (self._tables, self._mask)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k, mask = self.alone(q, k)
        groups = q.shape[1] // k.shape[1]
        k, v = (x.repeat_interleave(groups, dim=1) for x in (k, v))
        return scaled_dot_product_attention(q, k, v, attn_mask=mask)

    def alone(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        tables, mask = self._tables.of(q.shape[2]), self._mask.of(q.shape[2])
        assert isinstance(tables, tuple)
        assert isinstance(mask, Tensor)
        cos, sin = tables
        return _turned(q, cos, sin), _turned(k, cos, sin), mask

    def _made(self, length: int) -> tuple[Tensor, Tensor]:
        """With angles in float64 where they are kept, and as most code has them, in float32, where they are not."""
        exact = torch.float64 if self._tables.kept == "always" else torch.float32
        inverse = 1.0 / BASE ** (torch.arange(0, WIDTH, 2, dtype=exact) / WIDTH)
        angles = torch.arange(length, dtype=exact)[:, None] * inverse
        doubled = torch.cat((angles, angles), dim=-1)
        return doubled.cos().to(self._dtype), doubled.sin().to(self._dtype)


@final
class Rotated(Step):
    """gnomon: half tables that are kept, one rotation of queries and keys in place, and no mask."""

    def __init__(self) -> None:
        self._tables = Memory("always", half_tables)
        self.memories = (self._tables,)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        q, k = self.alone(q, k)
        return scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)

    def alone(self, q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        tables = self._tables.of(q.shape[2])
        assert isinstance(tables, tuple)
        cos, sin = tables
        apply_rotary(q, k, cos=cos, sin=sin, layout="half", inplace=True)
        return q, k


def half_tables(length: int) -> tuple[Tensor, Tensor]:
    """cos and sin of positions 0 .. length - 1, (S, P) float32 from float64."""
    return cos_sin_rows(Plain(BASE).inverse(WIDTH), 0, length)


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


NAIVE, LIMIT, OURS = "tables and mask made in every layer", "no positions at all", "gnomon: kept half tables, no mask"
HALF = "tables and mask kept, tables in bfloat16"
EXACT = "tables and mask kept"  #: whose output the others are held against
FULL_ONLY: Final = (HALF, LIMIT)  #: steps that the quick form leaves out
STEPS: Final[Mapping[str, Callable[[], Step]]] = {
    NAIVE: partial(Tables, "never", torch.float32),
    EXACT: partial(Tables, "always", torch.float32),
    HALF: partial(Tables, "always", torch.bfloat16),
    OURS: Rotated,
    LIMIT: NoPositions,
}
