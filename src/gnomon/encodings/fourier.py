"""Fourier features of coordinates, and a learned map from them to the width of the model.

Features: Tancik et al. 2020, arXiv:2006.10739. Bands up to half the resolution: Perceiver, Jaegle et al. 2021,
arXiv:2103.03206, section 3.2. Octaves: NeRF, Mildenhall et al. 2020, arXiv:2003.08934, equation 4.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, Self, final, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import linear

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.places import absent, checked_grid, require_below, require_on_grid
from gnomon.kernels.precision import full_precision
from gnomon.kernels.rotation import axis_angles

Bands = Literal["linear", "log", "octaves"]


@registry.register("fourier")
@final
class FourierFeatures(PositionEncoding):
    """The embedding gets a learned linear map of x, sin(pi f x) and cos(pi f x), for each coordinate x and frequency f.

    `grid` has one size for each axis; its n places are x = -1 to 1, ends included. With one size positions are (B, S)
    and the encoding has that `max_length`; with more they are (B, S, axes), and tokens at -1 on all axes get nothing.

    `bands` are the `num_bands` frequencies of an axis, in half turns from -1 to 1: "linear" is equal steps from 1 to
    n / 2, the most that n places can show (Perceiver); "log" is equal ratios over the same range; "octaves" is 1, 2, 4,
    ..., whatever n (NeRF). Whole frequencies give both ends the same sines and cosines, so x is a feature too.

    `features` is the deterministic part, to concatenate to inputs instead of adding, as Perceiver does. `weight` is
    (dim, axes x (2 num_bands + 1)), drawn from a normal distribution with standard deviation `init_std`.

    >>> FourierFeatures(6, grid=(4, 9), num_bands=3).features(torch.tensor([[[0, 4]]])).shape
    torch.Size([1, 1, 14])
    """

    learned: bool = True

    def __init__(
        self, dim: int, *, grid: Sequence[int], num_bands: int = 64, bands: Bands = "linear", init_std: float = 0.02
    ) -> None:
        super().__init__()
        if min(dim, num_bands, len(grid)) < 1:
            raise GnomonError(
                f"Fourier features need a width, a band and an axis at least, got dim={dim}, num_bands={num_bands} and "
                f"{len(grid)} axes."
            )
        if bands not in get_args(Bands):
            raise GnomonError(f"The bands of Fourier features are {', '.join(get_args(Bands))}, got {bands!r}.")
        self.dim = dim
        self.axes: int = len(grid)
        self.sizes = checked_grid(grid, self.axes)
        self.grid: tuple[int, ...] | None = self.sizes if self.axes > 1 else None
        self.max_length: int | None = None if self.axes > 1 else self.sizes[0]
        self.num_bands = num_bands
        self.bands: Bands = bands
        self.init_std = init_std
        self.weight = nn.Parameter(torch.empty(dim, self.axes * (2 * num_bands + 1)))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the map anew from torch's default generator."""
        nn.init.normal_(self.weight, std=self.init_std)

    def frequencies(self, axis: int) -> tuple[float, ...]:
        """The frequencies of one axis, in half turns from -1 to 1."""
        if self.bands == "octaves":
            return tuple(2.0**k for k in range(self.num_bands))
        top, shares = self.sizes[axis] / 2, (k / max(self.num_bands - 1, 1) for k in range(self.num_bands))
        return tuple(1.0 + share * (top - 1.0) if self.bands == "linear" else top**share for share in shares)

    def features(
        self, positions: Int[Tensor, "*BS"], *, dtype: torch.dtype = torch.float32
    ) -> Float[Tensor, "*B S features"]:
        """(..., S) or (..., S, axes) int64 -> (..., S, axes x (2 num_bands + 1)): all x, all sines, all cosines.

        Sines and cosines have all bands of the first axis, then those of the next. Tokens without a place get zeros.
        """
        places = self._checked(positions)
        ends = torch.tensor(self.sizes, dtype=torch.float64, device=places.device)
        x = 2 * places / (ends - 1).clamp_min(1) - 1
        of_band = [axis for axis in range(self.axes) for _ in range(self.num_bands)]
        rates = [math.pi * f for axis in range(self.axes) for f in self.frequencies(axis)]
        inverse = torch.tensor(rates, dtype=torch.float64, device=places.device)
        turned = axis_angles(x, of_band, inverse, dtype=dtype)
        found = torch.cat((x.to(dtype), turned.sin(), turned.cos()), dim=-1)
        return found.masked_fill(absent(places), 0.0)

    def embed(self, x: Float[Tensor, "B S W"], positions: Int[Tensor, "#B S *axes"]) -> Float[Tensor, "B S W"]:
        if x.shape[-1] != self.dim:
            raise ShapeError(f"The embeddings are {x.shape[-1]} wide but the Fourier features give {self.dim} columns.")
        dtype = torch.promote_types(torch.promote_types(x.dtype, self.weight.dtype), torch.float32)
        features = self.features(positions, dtype=dtype)
        with full_precision(x.device):
            return (x + linear(features, self.weight.to(dtype))).to(x.dtype)

    def _checked(self, positions: Int[Tensor, "*S"]) -> Int[Tensor, "*BS axes"]:
        """Positions that are on the grid, with coordinates last."""
        require_positions(positions, axes=self.axes)
        if self.axes > 1:
            require_on_grid(positions, self.sizes)
            return positions
        require_below(
            positions, self.sizes[0], owner="these Fourier features", advice="shorten the input or give a larger grid"
        )
        return positions.unsqueeze(-1)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "dim": self.dim,
            "grid": list(self.sizes),
            "num_bands": self.num_bands,
            "bands": self.bands,
            "init_std": self.init_std,
        }

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        return cls(num_heads * head_dim, grid=(16, 16), num_bands=8)


def reference(
    vector: list[float],
    position: int | Sequence[int],
    *,
    weight: list[list[float]],
    grid: Sequence[int],
    num_bands: int,
    bands: str,
) -> list[float]:
    """One embedding plus the map of its Fourier features.

    Perceiver, section 3.2: [x_d, sin(f_k pi x_d), cos(f_k pi x_d)], f_k in equal steps from 1 to mu / 2, where mu is
    the number of places; "octaves" is equation 4 of NeRF, sin(2^k pi p) and cos(2^k pi p).
    """
    place = [position] if isinstance(position, int) else position
    if len(place) > 1 and all(coordinate == -1 for coordinate in place):
        return vector
    raw, sines, cosines = [], [], []
    for coordinate, n in zip(place, grid, strict=True):
        x = -1 + coordinate * 2 / (n - 1)
        raw.append(x)
        for k in range(num_bands):
            if bands == "linear":
                f = 1 + (n / 2 - 1) * k / (num_bands - 1)
            elif bands == "log":
                f = math.exp(math.log(n / 2) * k / (num_bands - 1))
            else:
                f = float(2**k)
            sines.append(math.sin(f * math.pi * x))
            cosines.append(math.cos(f * math.pi * x))
    features = raw + sines + cosines
    return [
        value + sum(w * f for w, f in zip(row, features, strict=True))
        for value, row in zip(vector, weight, strict=True)
    ]
