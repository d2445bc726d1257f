"""Rotary position embedding (RoPE): Su et al. 2021, arXiv:2104.09864, section 3.2.2."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Final, final

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import PositionEncoding, registry, require_positions
from gnomon.encodings.frequencies.base import Frequencies, build_frequencies
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError, ShapeError
from gnomon.kernels.rotation import LAYOUTS, Layout, angles, rotate

_PLAIN: Final = Plain(10000.0)


@registry.register("rotary")
@final
class Rotary(PositionEncoding):
    """Pair i of a query or key at position p turns by p * w_i, so that scores depend on differences of positions.

    `rotary_dim`: only the first so many columns of a head turn (partial rotary: GPT-J, GPT-NeoX); None is all of them.
    `layout`: "half" pairs column i with i + rotary_dim / 2 (Llama, GPT-NeoX); "interleaved" pairs 2 i with 2 i + 1 (the
    paper, GPT-J). A checkpoint works with the layout it was trained in only. `frequencies` gives the w_i, as an object
    or in its dict form. cos and sin are multiplied by its attention factor; with one other than 1 a rotation does not
    keep lengths, and `norm_preserving` is False.

    >>> Rotary(head_dim=64, frequencies={"kind": "linear", "factor": 4.0}).inverse_frequencies[0]
    0.25
    """

    relative: ClassVar[bool] = True
    norm_preserving: bool = True

    def __init__(
        self,
        head_dim: int,
        *,
        rotary_dim: int | None = None,
        layout: Layout = "half",
        frequencies: Frequencies | Mapping[str, Any] = _PLAIN,
    ) -> None:
        super().__init__()
        self.head_dim = head_dim
        self.rotary_dim = _rotated_width(head_dim, rotary_dim)
        if layout not in LAYOUTS:
            raise GnomonError(f"The layout of a rotary encoding is one of {', '.join(LAYOUTS)}, got {layout!r}.")
        self.layout: Layout = layout
        if not isinstance(frequencies, Frequencies | Mapping):
            raise GnomonError(f"Frequencies are a rule such as Plain(10000.0) or {{'kind': ...}}, got {frequencies!r}.")
        self.frequencies = build_frequencies(frequencies) if isinstance(frequencies, Mapping) else frequencies
        #: what rotated columns are multiplied by, and so every score of two rotated vectors twice
        self.attention_factor: float = self.frequencies.attention_factor
        self.norm_preserving = self.attention_factor == 1.0
        #: w_i in radians per position, fastest first; one for each pair
        self.inverse_frequencies: tuple[float, ...] = tuple(self.frequencies.inverse(self.rotary_dim).tolist())

    def rotate_query(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self._rotate(q, positions)

    def rotate_key(self, k: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        return self._rotate(k, positions)

    def cos_sin(
        self, positions: Int[Tensor, "*B S"], *, dtype: torch.dtype = torch.float32
    ) -> tuple[Float[Tensor, "*B S pairs"], Float[Tensor, "*B S pairs"]]:
        """The cosines and sines of every pair: (..., S) int64 -> two of (..., S, rotary_dim / 2)."""
        require_positions(positions)
        inverse = torch.tensor(self.inverse_frequencies, dtype=torch.float64, device=positions.device)
        turned = angles(positions, inverse, dtype=dtype)
        return turned.cos() * self.attention_factor, turned.sin() * self.attention_factor

    def _rotate(self, x: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Float[Tensor, "B H S D"]:
        if x.shape[-1] != self.head_dim:
            raise ShapeError(f"The heads are {x.shape[-1]} wide but the rotary encoding is for {self.head_dim}.")
        cos, sin = self.cos_sin(positions, dtype=torch.promote_types(x.dtype, torch.float32))
        return rotate(x, cos.unsqueeze(-3), sin.unsqueeze(-3), layout=self.layout)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "layout": self.layout,
            "frequencies": self.frequencies.to_dict(),
        }


def _rotated_width(head_dim: int, rotary_dim: int | None) -> int:
    width = head_dim if rotary_dim is None else rotary_dim
    if not 2 <= width <= head_dim:
        raise GnomonError(f"The rotated width must be between 2 and the head width {head_dim}, got {width}.")
    if width % 2:
        raise GnomonError(
            f"Rotation works on pairs, so the rotated width must be even, got {width}; use partial rotary: "
            f"rotary_dim={width - 1} turns {width - 1} of the {head_dim} columns."
        )
    return width


def reference(
    vector: list[float], position: int, inverse: list[float], layout: str, attention_factor: float = 1.0
) -> list[float]:
    """Equation 15 for one head and one token: each pair (a, b) times the matrix f [[cos, -sin], [sin, cos]].

    f is the attention factor of YaRN (Peng et al. 2023, arXiv:2309.00071, section 3.4), 1 in the RoPE paper.
    """
    turned = list(vector)
    for i, frequency in enumerate(inverse):
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + len(inverse))
        cos, sin = (attention_factor * turn(position * frequency) for turn in (math.cos, math.sin))
        turned[a] = vector[a] * cos - vector[b] * sin
        turned[b] = vector[a] * sin + vector[b] * cos
    return turned
