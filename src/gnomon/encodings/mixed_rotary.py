"""RoPE-Mixed, rotary encoding with a learned direction for each head and pair: Heo et al. 2024, arXiv:2403.13298.

Section 3; the initial numbers are those of its code (naver-ai/rope-vit).
"""

import math
from collections.abc import Sequence
from typing import Any, Self, final

import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.places import absent
from gnomon.kernels.rotation import Layout, checked_layout, reduced, require_head_width, rotate, rotated_width


@registry.register("mixed_rotary")
@final
class MixedRotary(PositionEncoding):
    """A pair turns by the sum over the axes of coordinate x `directions[head, axis, pair]`, in radians.

    `AxialRotary` turns a pair by one coordinate, so only two pairs together tell diagonal offsets apart; here each pair
    of each head learns a direction and a frequency along it. Positions are (B, S, axes), (height, width). Tokens at -1
    on all axes are not turned, nor are the columns past `rotary_dim` (default: all turn). Scores depend on differences
    of positions because queries and keys of a head share their directions, so heads cannot share a key head.

    `directions` is (num_heads, axes, pairs). At first each head has a random set of perpendicular directions, one for
    each axis, and along each the frequencies base^(-2 j axes / rotary_dim). A model has one encoding in each layer. The
    `freqs` of rope-vit and timm are (2, layers, heads, pairs) with width before height: directions are
    `freqs[[1, 0], layer].transpose(0, 1)`.

    >>> encoding = MixedRotary(num_heads=3, head_dim=8)
    >>> encoding.directions.shape
    torch.Size([3, 2, 4])
    >>> encoding.rotate_query(torch.randn(1, 3, 1, 8), torch.tensor([[[4, 7]]])).shape
    torch.Size([1, 3, 1, 8])
    """

    relative: bool = True
    norm_preserving: bool = True
    learned: bool = True

    def __init__(
        self,
        num_heads: int,
        head_dim: int,
        *,
        axes: int = 2,
        rotary_dim: int | None = None,
        base: float = 10.0,
        layout: Layout = "interleaved",
    ) -> None:
        super().__init__()
        if num_heads < 1:
            raise GnomonError(f"MixedRotary needs at least 1 head, got num_heads={num_heads}.")
        if axes < 2:
            raise GnomonError(f"A grid has at least 2 axes, got axes={axes}; one axis takes Rotary.")
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.rotary_dim = rotated_width(head_dim, rotary_dim, axes=axes)
        self.axes: int = axes
        self.layout: Layout = checked_layout(layout)
        self._magnitudes = Plain(base)
        self.directions = nn.Parameter(torch.empty(num_heads, axes, self.rotary_dim // 2))
        self.reset_parameters()

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        """The plane, with as many columns of a head as pairs for both axes can fill."""
        return cls(num_heads, head_dim, rotary_dim=head_dim - head_dim % 4)

    def reset_parameters(self) -> None:
        """Draw the directions anew from torch's default generator."""
        magnitudes = torch.from_numpy(self._magnitudes.inverse(self.rotary_dim // self.axes))
        frames = _random_rotations(self.num_heads, self.axes, device=self.directions.device)
        with torch.no_grad():
            self.directions.copy_((frames.unsqueeze(-1) * magnitudes.to(frames)).flatten(-2))

    def rotate_query(
        self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S axes"]
    ) -> Float[Tensor, "B H S D"]:
        return self._rotate(q, positions)

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S axes"]) -> Float[Tensor, "B H S D"]:
        return self._rotate(k, positions)

    def _rotate(self, x: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S axes"]) -> Float[Tensor, "B H S D"]:
        require_head_width(x, self.head_dim)
        require_positions(positions, axes=self.axes)
        if x.shape[1] != self.num_heads:
            raise ShapeError(
                f"This MixedRotary has directions for {self.num_heads} heads, the vectors have {x.shape[1]}; queries "
                f"and keys of a head share its directions, so there are as many key heads as heads."
            )
        placed = positions.masked_fill(absent(positions), 0).to(torch.float64)
        sums = torch.einsum("bsa,hap->bhsp", placed, self.directions.to(torch.float64))
        turned = reduced(sums, dtype=torch.promote_types(x.dtype, torch.float32))
        return rotate(x, turned.cos(), turned.sin(), layout=self.layout)

    @property
    def heads_along(self) -> dict[str, int] | None:
        return {"directions": 0}

    @property
    def options(self) -> dict[str, Any]:
        return {
            "num_heads": self.num_heads,
            "head_dim": self.head_dim,
            "axes": self.axes,
            "rotary_dim": self.rotary_dim,
            "base": self._magnitudes.base,
            "layout": self.layout,
        }


def _random_rotations(count: int, axes: int, *, device: torch.device) -> Float64[Tensor, "H axes axes"]:
    """Rotations of space, each as likely as any other: the columns are perpendicular unit vectors."""
    drawn = torch.randn(count, axes, axes, dtype=torch.float64, device=device)
    frames, triangles = torch.linalg.qr(drawn)
    frames = frames * triangles.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
    return torch.cat((frames[..., :-1], frames[..., -1:] * torch.linalg.det(frames)[:, None, None]), dim=-1)


def reference(
    vector: list[float], position: Sequence[int], *, directions: Sequence[Sequence[float]], layout: str
) -> list[float]:
    """RoPE-Mixed for one head and one token: R(n, t) = exp(i (theta_x,t p_x + theta_y,t p_y)), pair by pair."""
    turned, pairs = list(vector), len(directions[0])
    if all(coordinate == -1 for coordinate in position):
        return turned
    for t in range(pairs):
        a, b = (2 * t, 2 * t + 1) if layout == "interleaved" else (t, t + pairs)
        angle = sum(coordinate * theta[t] for coordinate, theta in zip(position, directions, strict=True))
        turned[a] = vector[a] * math.cos(angle) - vector[b] * math.sin(angle)
        turned[b] = vector[a] * math.sin(angle) + vector[b] * math.cos(angle)
    return turned
