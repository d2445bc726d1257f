"""Fixed sines and cosines added to the embeddings: Vaswani et al. 2017, arXiv:1706.03762, section 3.5."""

import math
from typing import Any, Literal, final, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.half_table import HalfTable
from gnomon.kernels.readable import readable
from gnomon.kernels.rotation import LAYOUTS, Layout, join_pairs
from gnomon.kernels.tables import cos_sin_at

Scale = Literal["none", "sqrt_dim", "dim"]
Exponent = Literal["paper", "endpoint"]


@registry.register("sinusoidal")
@final
class Sinusoidal(PositionEncoding):
    """Column pair i of position p is (sin, cos) of p * w_i; w_i falls from 1 to about 1 / base.

    `layout`: "interleaved" (the paper) puts a pair in columns (2 i, 2 i + 1); "half" puts the sines first and then the
    cosines. `exponent`: "paper" is w_i = base^(-2 i / dim); "endpoint" is w_i = base^(-i / (dim // 2 - 1)), which ends
    exactly at 1 / base. Marian is half + paper; tensor2tensor, fairseq and Whisper are half + endpoint. `scale` divides
    the table by 1, by sqrt(dim) or by dim. The norm of an unscaled vector of even width is exactly sqrt(dim / 2).

    `padding_offset` is added to every position first: fairseq and its descendants (M2M100, XGLM) reserve the vectors up
    to their padding index, so that the first token has the vector of position 2.

    An odd width has one sine more than cosines under "paper" and a last column of zeros under "endpoint", as its
    sources have. The table follows from the options and is neither a parameter nor a buffer; on the CPU the rows of
    positions that were served are kept.

    >>> Sinusoidal(4).table(torch.tensor([0, 1]))
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """

    def __init__(
        self,
        dim: int,
        *,
        layout: Layout = "interleaved",
        base: float = 10000.0,
        scale: Scale = "none",
        exponent: Exponent = "paper",
        padding_offset: int = 0,
    ) -> None:
        super().__init__()
        _require("layout", layout, LAYOUTS)
        _require("scale", scale, get_args(Scale))
        _require("exponent", exponent, get_args(Exponent))
        if dim < 1 or (exponent == "endpoint" and dim < 2):
            raise GnomonError(f"A sinusoid needs a width of at least 1 (2 for exponent='endpoint'), got dim={dim}.")
        if not (math.isfinite(base) and base > 1):
            raise GnomonError(f"The base of the frequencies must be a finite number above 1, got {base}.")
        if padding_offset < 0:
            raise GnomonError(f"The padding_offset of a sinusoid is at least 0, got {padding_offset}.")
        self.dim = dim
        self.layout: Layout = layout
        self.base = float(base)
        self.scale: Scale = scale
        self.exponent: Exponent = exponent
        self.padding_offset = padding_offset
        self._divisor = {"none": 1.0, "sqrt_dim": math.sqrt(dim), "dim": float(dim)}[scale]
        self._rows = HalfTable(self.inverse_frequencies, factor=1 / self._divisor)

    @property
    def inverse_frequencies(self) -> tuple[float, ...]:
        """w_i in radians per position, fastest first; one for each pair of columns."""
        if self.exponent == "paper":
            return tuple(self.base ** (-2 * i / self.dim) for i in range((self.dim + 1) // 2))
        pairs = self.dim // 2
        return tuple(self.base ** (-i / max(pairs - 1, 1)) for i in range(pairs))

    def table(self, positions: Int[Tensor, "*B S"], *, dtype: torch.dtype = torch.float32) -> Float[Tensor, "*B S W"]:
        """The vectors that `embed` adds: (..., S) int64 -> (..., S, W), in float32 or better."""
        require_positions(positions)
        places = positions + self.padding_offset
        if dtype == torch.float32 and places.is_cpu and readable(places):
            cos, sin = self._rows.take(places)
        else:
            inverse = torch.tensor(self.inverse_frequencies, dtype=torch.float64, device=positions.device)
            cos, sin = cos_sin_at(places, inverse, factor=1 / self._divisor, dtype=dtype)
        joined = join_pairs(sin, cos, layout=self.layout)
        # An odd width: a negative padding drops the last cosine, a positive one adds the column of zeros.
        return functional.pad(joined, (0, self.dim - joined.shape[-1])) if joined.shape[-1] != self.dim else joined

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B S W"]:
        if x.shape[-1] != self.dim:
            raise ShapeError(f"The embeddings are {x.shape[-1]} wide but the sinusoids are {self.dim} wide.")
        table = self.table(positions, dtype=torch.promote_types(x.dtype, torch.float32))
        return (x + table).to(x.dtype)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "dim": self.dim,
            "layout": self.layout,
            "base": self.base,
            "scale": self.scale,
            "exponent": self.exponent,
            "padding_offset": self.padding_offset,
        }


def _require(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise GnomonError(f"The {name} of a sinusoid is one of {', '.join(allowed)}, got {value!r}.")


def reference(position: int, column: int, dim: int, base: float = 10000.0) -> float:
    """Section 3.5: PE(pos, 2i) = sin(pos / base^(2i / d)), PE(pos, 2i + 1) = cos(pos / base^(2i / d))."""
    i, is_cosine = divmod(column, 2)
    angle = position / math.pow(base, 2 * i / dim)
    return math.cos(angle) if is_cosine else math.sin(angle)


def reference_half(position: int, column: int, dim: int, base: float = 10000.0) -> float:
    """The paper's exponent with the sines first: the columns 0, 2, 4, .. and then 1, 3, 5, .. of `reference`."""
    return reference(position, [*range(0, dim, 2), *range(1, dim, 2)][column], dim, base)


def reference_endpoint(position: int, column: int, dim: int, base: float = 10000.0) -> float:
    """get_timing_signal of tensor2tensor: exp(-i log(base) / (n - 1)), n = d // 2; sines, cosines, zeros."""
    count = dim // 2
    if column >= 2 * count:
        return 0.0
    i, wave = (column, math.sin) if column < count else (column - count, math.cos)
    return wave(position * math.exp(-i * math.log(base) / max(count - 1, 1)))
