"""Axial rotary encoding: each axis of an image or a video has pairs of its own.

RoPE-Axial of Heo et al. 2024, arXiv:2403.13298, section 3. Coordinates from -1 to 1: DINOv3, Siméoni et al. 2025,
arXiv:2508.10104.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Self, final, get_args

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.frequencies.base import Frequencies, fixed_frequencies
from gnomon.encodings.frequencies.plain import Plain
from gnomon.encodings.turning import TurnsBoth
from gnomon.errors import GnomonError
from gnomon.kernels.places import absent, checked_grid, checked_order, require_on_grid
from gnomon.kernels.remembered import Remembered
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import Layout, checked_layout, require_head_width, rotate, rotated_width
from gnomon.kernels.tables import Pair, cos_sin_of

Arrangement = Literal["blocks", "alternating", "slices"]
Spectrum = Literal["share", "head"]
Coordinates = Literal["index", "centres", "corners"]

_PLAIN: Final = Plain(10000.0)


@registry.register("axial_rotary")
@final
class AxialRotary(TurnsBoth):
    """A pair turns by one coordinate of its token times its frequency: an equal share of the pairs for each axis.

    Positions are (B, S, axes), (height, width) or (time, height, width). Tokens at -1 on all axes (class and register
    tokens) are not turned. The first `rotary_dim` columns turn (default: all), a multiple of 2 axes.

    `arrangement`: "blocks" gives the first pairs to the first axis, the next ones to the second, and so on;
    "alternating" deals them out in turn; "slices" cuts the columns of the head, and each axis turns its own slice (so
    the halves of layout "half" are those of the slice). `order` says which coordinate is first, second, ...; (1, 0) is
    width before height. `layout` is that of `Rotary`.
    `spectrum`: with "share" each axis has the frequencies of a rotation that is as wide as its share; with "head" those
    of the whole rotated width are dealt out in turn, so that no two axes have the same.
    `coordinates`: "index" takes positions as they are. "centres" and "corners" lay a `grid` over -1 to 1, with the
    centres of its outer places half a step inside or on the ends, and count frequencies in turns: an angle is 2 pi x
    coordinate x frequency. An image of another size is another grid: see `resized`. With a grid, positions outside
    raise PositionError (not under torch.compile, where values cannot be read).

    | model | options |
    | --- | --- |
    | Qwen2-VL, Qwen2.5-VL, Qwen3-VL and GLM-4V vision | none |
    | Pixtral | spectrum="head" |
    | DINOv3 | coordinates="centres", grid=(H, W), frequencies=Plain(100.0) |
    | EVA-02 | layout="interleaved" |
    | Llama 4 vision (counts patches from 1) | layout="interleaved", order=(1, 0) |
    | Kimi K2.5 vision | arrangement="alternating", order=(1, 0) |
    | Gemma 4 vision | arrangement="slices", order=(1, 0), frequencies=Plain(100.0) |
    | MiniMax M3 vision, heads of 80 | axes=3, rotary_dim=78 |

    >>> AxialRotary(head_dim=8, order=(1, 0)).axis_of_pair
    (1, 1, 0, 0)
    >>> AxialRotary(head_dim=8, spectrum="head", frequencies=Plain(81.0)).inverse_frequencies
    (1.0, 0.1111111111111111, 0.3333333333333333, 0.037037037037037035)
    """

    relative: bool = True

    def __init__(
        self,
        head_dim: int,
        *,
        axes: int = 2,
        rotary_dim: int | None = None,
        arrangement: Arrangement = "blocks",
        order: Sequence[int] | None = None,
        layout: Layout = "half",
        spectrum: Spectrum = "share",
        coordinates: Coordinates = "index",
        grid: Sequence[int] | None = None,
        frequencies: Frequencies | Mapping[str, Any] = _PLAIN,
    ) -> None:
        super().__init__()
        if axes < 2:
            raise GnomonError(f"A grid has at least 2 axes, got axes={axes}; one axis takes Rotary.")
        self.head_dim = head_dim
        self.axes: int = axes
        self.rotary_dim = rotated_width(head_dim, rotary_dim, axes=axes)
        self.arrangement = _known("arrangement", arrangement, get_args(Arrangement))
        self.order = checked_order(order, axes)
        self.layout: Layout = checked_layout(layout)
        self.spectrum = _known("spectrum", spectrum, get_args(Spectrum))
        self.coordinates = _known("coordinates", coordinates, get_args(Coordinates))
        self.grid: tuple[int, ...] | None = None if grid is None else checked_grid(grid, axes)
        if grid is None and coordinates != "index":
            raise GnomonError(f"Coordinates that are {coordinates} of a grid need the grid: one size for each axis.")
        self.frequencies = fixed_frequencies(frequencies, "AxialRotary")
        self.norm_preserving = self.frequencies.norm_preserving
        shares = self._shares()
        pairs = np.stack((np.broadcast_to(np.array(self.order)[:, None], shares.shape), shares))
        axis_of_pair, inverse = (pairs.mT if arrangement == "alternating" else pairs).reshape(2, -1)
        #: for each pair the coordinate that it turns by, and radians per unit of it (turns, unless `index`)
        self.axis_of_pair: tuple[int, ...] = tuple(axis_of_pair.astype(int).tolist())
        self.inverse_frequencies: tuple[float, ...] = tuple(inverse.tolist())
        self._remembered = Remembered()

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        """The plane, with as many columns of a head as pairs for both axes can fill."""
        return cls(head_dim, rotary_dim=head_dim - head_dim % 4)

    def cos_sin(self, positions: Int[Tensor, "*BS axes"], *, dtype: torch.dtype = torch.float32) -> Pair:
        """The cosines and sines of every pair: (..., S, axes) int64 -> two of (..., S, rotary_dim / 2)."""
        require_positions(positions, axes=self.axes)
        inverse = torch.tensor(self.inverse_frequencies, dtype=torch.float64, device=positions.device)
        turned = self._coordinates(positions)[..., list(self.axis_of_pair)] * inverse
        return cos_sin_of(turned, factor=self.frequencies.attention_factor, dtype=dtype)

    def resized(self, grid: Sequence[int]) -> "AxialRotary":
        """The encoding for images of another size.

        >>> AxialRotary(8, coordinates="centres", grid=(14, 14)).resized((20, 32)).grid
        (20, 32)
        """
        return AxialRotary(**{**self.options, "grid": list(grid)})

    def _shares(self) -> Float64[np.ndarray, "axes each"]:
        """The frequencies of each axis, in the order of the axes."""
        if self.spectrum == "share":
            return np.tile(self.frequencies.inverse(self.rotary_dim // self.axes), (self.axes, 1))
        return self.frequencies.inverse(self.rotary_dim).reshape(-1, self.axes).T

    def _rotate(self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"] | None, positions: Tensor) -> Any:
        """What `apply_rotary` gives for q, or for both; the layers that share this encoding share cosines and sines."""
        for x in (q,) if k is None else (q, k):
            require_head_width(x, self.head_dim)
        dtype = torch.promote_types(q.dtype, torch.float32)
        cos, sin = self._remembered.of(positions, dtype, lambda: self.cos_sin(positions, dtype=dtype))
        if self.arrangement == "slices":
            turned = tuple(
                self._rotate_slices(x, cos.unsqueeze(-3), sin.unsqueeze(-3)) for x in (q, k) if x is not None
            )
            return turned[0] if k is None else turned
        return apply_rotary(q, k, cos=cos, sin=sin, layout=self.layout)

    def _rotate_slices(
        self, x: Float[Tensor, "B H S D"], cos: Float[Tensor, "#B 1 S pairs"], sin: Float[Tensor, "#B 1 S pairs"]
    ) -> Float[Tensor, "B H S D"]:
        """Each axis turns its own columns of a head."""
        slices, cos, sin = (part.unflatten(-1, (self.axes, -1)) for part in (x[..., : self.rotary_dim], cos, sin))
        rotated = rotate(slices, cos, sin, layout=self.layout).flatten(-2)
        return torch.cat((rotated, x[..., self.rotary_dim :]), dim=-1)

    def _coordinates(self, positions: Int[Tensor, "#B S axes"]) -> Float64[Tensor, "#B S axes"]:
        """What frequencies are multiplied by; 0, which turns nothing, for tokens without a place."""
        placed = positions.to(torch.float64)
        if self.grid is not None:
            require_on_grid(positions, self.grid)
            ends = torch.tensor(self.grid, dtype=torch.float64, device=positions.device)
            if self.coordinates == "centres":
                placed = 2 * math.pi * ((2 * placed + 1) / ends - 1)
            if self.coordinates == "corners":
                placed = 2 * math.pi * (2 * placed / (ends - 1).clamp_min(1) - 1)
        return placed.masked_fill(absent(positions), 0.0)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "head_dim": self.head_dim,
            "axes": self.axes,
            "rotary_dim": self.rotary_dim,
            "arrangement": self.arrangement,
            "order": list(self.order),
            "layout": self.layout,
            "spectrum": self.spectrum,
            "coordinates": self.coordinates,
            "grid": None if self.grid is None else list(self.grid),
            "frequencies": self.frequencies.to_dict(),
        }


def _known(option: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise GnomonError(f"The {option} of AxialRotary is one of {', '.join(allowed)}, got {value!r}.")
    return value


def reference(
    vector: list[float],
    position: Sequence[int],
    *,
    shares: list[list[float]],
    order: Sequence[int],
    arrangement: str,
    layout: str,
    coordinates: str = "index",
    grid: Sequence[int] = (),
) -> list[float]:
    """RoPE-Axial of Heo et al., section 3, for one token: `shares` are the frequencies of each axis, in `order`."""
    turned, each, pairs = list(vector), len(shares[0]), sum(len(share) for share in shares)
    if all(coordinate == -1 for coordinate in position):
        return turned
    for rank, share in enumerate(shares):
        place: float = position[order[rank]]
        if coordinates == "centres":  # DINOv3
            place = 2 * math.pi * (2 * (place + 0.5) / grid[order[rank]] - 1)
        elif coordinates == "corners":
            place = 2 * math.pi * (2 * place / (grid[order[rank]] - 1) - 1)
        for j, frequency in enumerate(share):
            pair = j * len(shares) + rank if arrangement == "alternating" else rank * each + j
            a, b = (2 * pair, 2 * pair + 1) if layout == "interleaved" else (pair, pair + pairs)
            if arrangement == "slices" and layout == "half":
                a, b = 2 * rank * each + j, 2 * rank * each + j + each
            cos, sin = math.cos(place * frequency), math.sin(place * frequency)
            turned[a], turned[b] = vector[a] * cos - vector[b] * sin, vector[a] * sin + vector[b] * cos
    return turned


def reference_frequency(rank: int, j: int, *, axes: int, rotary_dim: int, spectrum: str, base: float) -> float:
    """Frequency j of the axis of this rank: b^(-2j / share), or number j axes + rank of those of the whole width."""
    if spectrum == "share":
        return math.pow(base, -2 * j / (rotary_dim / axes))
    return math.pow(base, -2 * (j * axes + rank) / rotary_dim)
