"""Sinusoids on a grid: the fixed vectors of Vaswani et al. 2017, arXiv:1706.03762, section 3.5, for each axis.

Images: MoCo v3, Chen et al. 2021, arXiv:2104.02057, and MAE, He et al. 2021, arXiv:2111.06377. Coordinates as a share
of the image: DETR, Carion et al. 2020, arXiv:2005.12872.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, final, get_args

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor
from torch.nn.functional import pad

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.sinusoidal import Sinusoidal
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.places import absent, checked_grid, checked_order, require_on_grid
from gnomon.kernels.rotation import Layout, join_pairs
from gnomon.kernels.tables import cos_sin_of

Coordinates = Literal["index", "ends", "centres"]


@registry.register("sinusoidal_grid")
@final
class SinusoidalGrid(PositionEncoding):
    """Each axis of an image or a video has columns of its own, which hold the sinusoid of that coordinate.

    Positions are (B, S, axes), (height, width) or (time, height, width); H and W need not be equal. Tokens at -1 on all
    axes (class tokens) get nothing. `order` says whose columns come first; (1, 0) is width before height. Within an
    axis the columns are those of `Sinusoidal` with this `layout` and `base`. A width that does not divide is shared
    in pairs of columns: the axes that are first in `order` get one pair more, and an odd last column is one more sine
    of the last axis. `widths` tells the shares.

    `coordinates`: "index" takes positions as they are; then an image of any size will do. The others turn a `grid` of
    n places along an axis into one period, so that equal shares of images of all sizes look alike: place i is at
    2 pi (i + 1) / n with "ends" and at 2 pi (i + 1/2) / n with "centres". An image of another size is another grid:
    see `resized`. With a grid, positions outside raise PositionError (not under torch.compile, where values cannot be
    read).

    | model | options |
    | --- | --- |
    | MAE, AIMv2 | order=(1, 0) |
    | RT-DETR | none |
    | DETR, Conditional DETR | layout="interleaved", coordinates="ends", grid=(H, W) |
    | Deformable DETR | layout="interleaved", coordinates="centres", grid=(H, W) |

    VideoMAE has plain `Sinusoidal` over the flattened video.

    >>> SinusoidalGrid(4).table(torch.tensor([[-1, -1], [0, 1]]))
    tensor([[0.0000, 0.0000, 0.0000, 0.0000],
            [0.0000, 1.0000, 0.8415, 0.5403]])
    >>> SinusoidalGrid(11, axes=3).widths
    (4, 4, 3)
    """

    def __init__(
        self,
        dim: int,
        *,
        axes: int = 2,
        order: Sequence[int] | None = None,
        layout: Layout = "half",
        base: float = 10000.0,
        coordinates: Coordinates = "index",
        grid: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        if axes < 2:
            raise GnomonError(f"A grid has at least 2 axes, got axes={axes}; one axis takes Sinusoidal.")
        if dim < 2 * axes:
            raise GnomonError(f"Sinusoids of {axes} axes need a sine and a cosine each, dim={2 * axes}, got dim={dim}.")
        if coordinates not in get_args(Coordinates):
            known = ", ".join(get_args(Coordinates))
            raise GnomonError(f"The coordinates of SinusoidalGrid are one of {known}, got {coordinates!r}.")
        self.dim = dim
        self.axes: int = axes
        if grid is None and coordinates != "index":
            raise GnomonError(f"Coordinates that are {coordinates} of a grid need the grid: one size for each axis.")
        self.order = checked_order(order, axes)
        self.coordinates: Coordinates = coordinates
        self.grid: tuple[int, ...] | None = None if grid is None else checked_grid(grid, axes)
        #: how many columns each axis has, in the order of the columns
        self.widths = _widths(dim, axes)
        self._along = tuple(Sinusoidal(width, layout=layout, base=base) for width in self.widths)
        self.layout: Layout = layout
        self.base = float(base)

    def resized(self, grid: Sequence[int]) -> "SinusoidalGrid":
        """The encoding for images of another size.

        >>> SinusoidalGrid(8, coordinates="ends", grid=(14, 14)).resized((20, 32)).grid
        (20, 32)
        """
        return SinusoidalGrid(**{**self.options, "grid": list(grid)})

    def table(
        self, positions: Int[Tensor, "*BS axes"], *, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "*BS W"]:
        """The vectors that `embed` adds: (..., S, axes) int64 -> (..., S, W), in float32 or better."""
        require_positions(positions, axes=self.axes)
        placed = self._placed(positions)
        columns = []
        for axis, along in zip(self.order, self._along, strict=True):
            inverse = torch.tensor(along.inverse_frequencies, dtype=torch.float64, device=positions.device)
            cos, sin = cos_sin_of(placed[..., axis, None] * inverse, dtype=dtype)
            joined = join_pairs(sin, cos, layout=self.layout)
            columns.append(pad(joined, (0, along.dim - joined.shape[-1])))  # of an odd width, drops the last cosine
        return torch.cat(columns, dim=-1).masked_fill(absent(positions), 0.0)

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S axes"]) -> Float[Tensor, "B S W"]:
        if x.shape[-1] != self.dim:
            raise ShapeError(f"The embeddings are {x.shape[-1]} wide but the sinusoids are {self.dim} wide.")
        table = self.table(positions, dtype=torch.promote_types(x.dtype, torch.float32))
        return (x + table).to(x.dtype)

    def _placed(self, positions: Int[Tensor, "*BS axes"]) -> Float64[Tensor, "*BS axes"]:
        """What frequencies are multiplied by."""
        placed = positions.to(torch.float64)
        if self.grid is None:
            return placed
        require_on_grid(positions, self.grid)
        if self.coordinates == "index":
            return placed
        ends = torch.tensor(self.grid, dtype=torch.float64, device=positions.device)
        return 2 * math.pi * (placed + (1.0 if self.coordinates == "ends" else 0.5)) / ends

    @property
    def options(self) -> dict[str, Any]:
        return {
            "dim": self.dim,
            "axes": self.axes,
            "order": list(self.order),
            "layout": self.layout,
            "base": self.base,
            "coordinates": self.coordinates,
            "grid": None if self.grid is None else list(self.grid),
        }


def _widths(dim: int, axes: int) -> tuple[int, ...]:
    pairs, odd = divmod(dim, 2)
    each, more = divmod(pairs, axes)
    return tuple(2 * (each + (rank < more)) + (odd if rank == axes - 1 else 0) for rank in range(axes))


def reference(
    position: Sequence[int],
    column: int,
    *,
    widths: Sequence[int],
    order: Sequence[int],
    layout: str,
    base: float = 10000.0,
    coordinates: str = "index",
    grid: Sequence[int] = (),
) -> float:
    """Section 3.5 of Vaswani et al. within the columns of one axis; `widths` are those of the axes, in `order`.

    DETR's published code counts from 1 and scales the last place to 2 pi; Deformable DETR's takes half a step off.
    """
    if all(coordinate == -1 for coordinate in position):
        return 0.0
    rank = 0
    while column >= widths[rank]:
        column -= widths[rank]
        rank += 1
    place: float = position[order[rank]]
    if coordinates == "ends":
        place = (place + 1) / grid[order[rank]] * 2 * math.pi
    elif coordinates == "centres":
        place = (place + 1 - 0.5) / grid[order[rank]] * 2 * math.pi
    sines = (widths[rank] + 1) // 2
    if layout == "half":
        i, is_cosine = (column, False) if column < sines else (column - sines, True)
    else:
        i, is_cosine = column // 2, column % 2 == 1
    angle = place / math.pow(base, 2 * i / widths[rank])
    return math.cos(angle) if is_cosine else math.sin(angle)
