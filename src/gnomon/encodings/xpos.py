"""xPos, rotary encoding whose scores decay with the distance: Sun et al. 2022, arXiv:2212.10554, section 2.

Constants that the paper leaves open (0.4, 512) are those of its code in torchscale.
"""

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.frequencies.base import Frequencies, check_positive, fixed_frequencies
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError, PositionError
from gnomon.kernels.places import require_below
from gnomon.kernels.remembered import Remembered
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import Layout, checked_layout, require_head_width, rotated_width
from gnomon.kernels.tables import Pair, cos_sin_at

Side = Literal["query", "key"]

_PLAIN: Final = Plain(10000.0)
_GAMMA: Final = 0.4
#: A scale must leave this much room below the largest number of a dtype, for the vectors that it multiplies.
_HEADROOM: Final = 64.0


@registry.register("xpos")
@final
class XPos(PositionEncoding):
    """Rotary encoding with a scale: a query times zeta_i^p and a key times zeta_i^-p, p = (position - centre) / 512.

    Pair i of a score is then that of `Rotary` times zeta_i^((m - n) / scale_base), with zeta_i = (2 i + 0.4 d) / 1.4 d
    below 1: distant keys count less, most of all in the fast pairs. Keys that come later would count more, so it is
    right under a causal mask only. `layout`, `rotary_dim` and `frequencies` are those of `Rotary`.

    `centre` is fixed, and the same for queries and keys: it cancels in every score, and a cached key stays right. (The
    usual code takes half the length of each call. Then decoding through a cache differs from one pass.) Each vector
    alone carries its scale, so positions must stay where a dtype can hold it: at a distance n from the centre the scale
    is up to 3.5^(n / 512). Hence `max_length`, with the centre in its middle by default. Positions outside raise
    PositionError, and so do a dtype in which the scale of the ends is beyond 1/64 of the largest number (float16 past a
    distance of 2832 with the defaults, bfloat16 and float32 past 34559), and float16 vectors that overflow. Under
    torch.compile values cannot be read, so there only the options are held against the dtype.

    >>> XPos(head_dim=64).centre
    2048
    >>> XPos(head_dim=64).scales[0]
    0.28571428571428575
    """

    relative: bool = True
    causal_only: bool = True

    def __init__(
        self,
        head_dim: int,
        *,
        rotary_dim: int | None = None,
        layout: Layout = "interleaved",
        frequencies: Frequencies | Mapping[str, Any] = _PLAIN,
        scale_base: float = 512.0,
        centre: int | None = None,
        max_length: int = 4096,
    ) -> None:
        super().__init__()
        self.head_dim = head_dim
        self.rotary_dim = rotated_width(head_dim, rotary_dim)
        self.layout: Layout = checked_layout(layout)
        self.frequencies = fixed_frequencies(frequencies, "XPos")
        #: radians per position of each pair, fastest first
        self.inverse_frequencies: tuple[float, ...] = tuple(self.frequencies.inverse(self.rotary_dim).tolist())
        self.scale_base = check_positive(scale_base, "The scale_base of XPos")
        if max_length < 1:
            raise GnomonError(f"XPos needs at least 1 position, got max_length={max_length}.")
        self.max_length: int = max_length
        self.centre = max_length // 2 if centre is None else centre
        if not 0 <= self.centre < max_length:
            raise GnomonError(f"The centre of XPos is a position, 0 to {max_length - 1}, got {centre}.")
        #: zeta_i of each pair, all below 1 and rising
        self.scales: tuple[float, ...] = tuple(
            (2 * i / self.rotary_dim + _GAMMA) / (1 + _GAMMA) for i in range(self.rotary_dim // 2)
        )
        self._remembered = {"query": Remembered(), "key": Remembered()}

    def rotate_query(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self._rotate(q, positions, side="query")

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self._rotate(k, positions, side="key")

    def _rotate(
        self, x: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"], *, side: Side
    ) -> Float[Tensor, "B H S D"]:
        require_head_width(x, self.head_dim)
        self._require_room(x.dtype)
        dtype = torch.promote_types(x.dtype, torch.float32)
        cos, sin = self._remembered[side].of(positions, dtype, lambda: self._cos_sin(positions, side, dtype))
        turned: Any = apply_rotary(x, cos=cos, sin=sin, layout=self.layout)
        rotated: Tensor = turned
        _require_finite(rotated, x, positions)
        return rotated

    def _cos_sin(self, positions: Int[Tensor, "#B S"], side: Side, dtype: torch.dtype) -> Pair:
        """Cosines and sines times the scale of this side."""
        require_positions(positions)
        require_below(positions, self.max_length, owner="this xPos encoding", advice="give it a larger max_length")
        inverse, logs = (
            torch.tensor(values, dtype=torch.float64, device=positions.device)
            for values in (self.inverse_frequencies, [math.log(scale) for scale in self.scales])
        )
        power = (positions - self.centre).unsqueeze(-1).to(torch.float64) / self.scale_base
        scale = ((power if side == "query" else -power) * logs).exp() * self.frequencies.attention_factor
        return cos_sin_at(positions, inverse, factor=scale, dtype=dtype)

    def _require_room(self, dtype: torch.dtype) -> None:
        """Raise unless the scales of all positions fit the dtype, and vectors times them too."""
        far = max(self.centre, self.max_length - 1 - self.centre)
        reach = int(math.log(torch.finfo(dtype).max / _HEADROOM) * self.scale_base / -math.log(self.scales[0]))
        if far > reach:
            raise PositionError(
                f"This xPos encoding has positions up to {far} from its centre {self.centre}, where {dtype} cannot "
                f"hold the scaled vectors; it can up to {reach}: use a wider dtype, or max_length={2 * reach} at most."
            )

    @property
    def options(self) -> dict[str, Any]:
        return {
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "layout": self.layout,
            "frequencies": self.frequencies.to_dict(),
            "scale_base": self.scale_base,
            "centre": self.centre,
            "max_length": self.max_length,
        }


def _require_finite(
    rotated: Float[Tensor, "B H S D"], x: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]
) -> None:
    """Raise where a float16 vector was too large for its scale; wider dtypes have the room that the options leave."""
    if x.dtype != torch.float16 or torch.compiler.is_compiling() or x.is_meta:
        return
    lost = (rotated.isinf() & x.isfinite()).nonzero()
    if len(lost):
        row, _, token, _ = lost[0].tolist()
        position = int(positions.expand(x.shape[0], -1)[row, token])
        raise PositionError(
            f"A float16 vector at position {position} overflows when xPos scales it; use bfloat16 or float32, or a "
            f"smaller max_length."
        )


def reference(
    vector: list[float],
    position: int,
    *,
    side: str,
    inverse: list[float],
    layout: str,
    scale_base: float = 512.0,
    centre: int = 0,
) -> list[float]:
    """Algorithm 1 of the paper for one head and one token: a query times zeta^p, a key times zeta^-p, both rotated."""
    turned, width = list(vector), 2 * len(inverse)
    for i, frequency in enumerate(inverse):
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + len(inverse))
        zeta = (2 * i + 0.4 * width) / (1.4 * width)
        power = (position - centre) / scale_base
        scale = zeta**power if side == "query" else zeta**-power
        cos, sin = math.cos(position * frequency), math.sin(position * frequency)
        turned[a] = scale * (vector[a] * cos - vector[b] * sin)
        turned[b] = scale * (vector[a] * sin + vector[b] * cos)
    return turned
