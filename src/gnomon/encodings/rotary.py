"""Rotary position embedding (RoPE): Su et al. 2021, arXiv:2104.09864, section 3.2.2."""

import copy
import math
from collections.abc import Mapping
from typing import Any, Final, final

import numpy as np
import torch
from jaxtyping import Float, Float64, Int, Int64
from torch import Tensor

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.frequencies.base import Frequencies, as_frequencies
from gnomon.encodings.frequencies.plain import Plain
from gnomon.encodings.turning import TurnsBoth
from gnomon.errors import GnomonError, PositionError
from gnomon.kernels.half_table import HalfTable
from gnomon.kernels.readable import readable
from gnomon.kernels.remembered import Remembered
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import Layout, checked_layout, require_head_width, rotated_width
from gnomon.kernels.tables import Pair, cos_sin_at

_PLAIN: Final = Plain(10000.0)


@registry.register("rotary")
@final
class Rotary(TurnsBoth):
    """Pair i of a query or key at position p turns by p * w_i, so that scores depend on differences of positions.

    `rotary_dim`: only the first so many columns of a head turn (partial rotary: GPT-J, GPT-NeoX); None is all of them.
    `layout`: "half" pairs column i with i + rotary_dim / 2 (Llama, GPT-NeoX); "interleaved" pairs 2 i with 2 i + 1 (the
    paper, GPT-J). A checkpoint works with the layout it was trained in only. `frequencies` gives the w_i, as an object
    or in its dict form. cos and sin are multiplied by its attention factor; with one other than 1 a rotation does not
    keep lengths, and `norm_preserving` is False.

    Frequencies that depend on the length of the sequence (`DynamicNTK`, `DynamicYaRN`, `LongRoPE`) make the encoding
    `length_dependent`, and no longer `relative`: a shift changes the length. Called directly, each row turns with the
    length of its last position, plus 1; `at_length` fixes another one. Attention keeps such keys unrotated in its cache
    and turns each query, with the keys that it sees, by the length of that query, so a token's output depends neither
    on what follows, nor on other rows, nor on how the tokens were split into calls.

    On the CPU the rows of a `HalfTable` are gathered while the vectors turn. Elsewhere, where to read positions would
    wait for the device, the cosines of one tensor of positions are computed once and shared by all layers that have
    this encoding. Neither is part of the module's state.

    >>> Rotary(head_dim=64, frequencies={"kind": "linear", "factor": 4.0}).inverse_frequencies[0]
    0.25
    """

    relative: bool = True
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
        self.rotary_dim = rotated_width(head_dim, rotary_dim)
        self.layout: Layout = checked_layout(layout)
        self.frequencies = as_frequencies(frequencies)
        #: what rotated columns are multiplied by, and so every score of two rotated vectors twice
        self.attention_factor: float = self.frequencies.attention_factor
        self.norm_preserving = self.frequencies.norm_preserving
        self.length_dependent = self.frequencies.length_dependent
        self.relative = not self.length_dependent
        #: w_i in radians per position, fastest first; one for each pair; at the trained length if they depend on one
        self.inverse_frequencies: tuple[float, ...] = tuple(self.frequencies.inverse(self.rotary_dim).tolist())
        self._lengths: Tensor | None = None
        self._table = HalfTable(self.inverse_frequencies, factor=self.attention_factor)
        self._remembered = Remembered()

    def cos_sin(
        self, positions: Int[Tensor, "*B S"], *, dtype: torch.dtype = torch.float32
    ) -> tuple[Float[Tensor, "*B S pairs"], Float[Tensor, "*B S pairs"]]:
        """The cosines and sines of every pair: (..., S) int64 -> two of (..., S, rotary_dim / 2)."""
        require_positions(positions)
        inverse = torch.tensor(self.inverse_frequencies, dtype=torch.float64, device=positions.device)
        factor: float | Tensor = self.attention_factor
        if self.length_dependent:
            inverse, factor = self._by_length(positions)
        return cos_sin_at(positions, inverse, factor=factor, dtype=dtype)

    def regimes(self, lengths: Int[Tensor, "*S"]) -> Int64[Tensor, "*S"]:
        """The shortest length with the same frequencies, for each length; all 0 when none matters."""
        if not self.length_dependent:
            return super().regimes(lengths)
        distinct, index = lengths.unique(return_inverse=True)
        found = [self.frequencies.regime(length) for length in distinct.tolist()]
        return torch.tensor(found, dtype=torch.int64, device=lengths.device)[index]

    def at_length(self, lengths: int | Int[Tensor, " B"]) -> "Rotary":
        """The rotation of one length for good, or of one length for each row; itself when no length matters.

        One length is what a server fixes when it starts, and what transformers uses for one call on a whole sequence:

        >>> from gnomon.encodings.frequencies import DynamicNTK
        >>> rotary = Rotary(64, frequencies=DynamicNTK(factor=2.0, original_max_length=2048))
        >>> rotary.at_length(4096).length_dependent
        False
        """
        if not self.length_dependent:
            return self
        if not isinstance(lengths, int | Tensor) or (isinstance(lengths, int) and lengths < 1):
            raise GnomonError(f"A length is a whole number of at least 1, or one for each row, got {lengths!r}.")
        if isinstance(lengths, int):
            fixed = self.frequencies.at_length(lengths)
            return Rotary(self.head_dim, rotary_dim=self.rotary_dim, layout=self.layout, frequencies=fixed)
        bound = copy.copy(self)
        bound._lengths = lengths
        return bound

    def _by_length(
        self, positions: Int[Tensor, "*B S"]
    ) -> tuple[Float64[Tensor, "*B 1 pairs"], Float64[Tensor, "*B 1 1"]]:
        """Inverse frequencies and attention factor of each row's own length."""
        lengths = positions.amax(-1) + 1 if self._lengths is None else self._lengths.expand(positions.shape[:-1])
        distinct, index = lengths.unique(return_inverse=True)
        rules = [self.frequencies.at_length(length) for length in distinct.tolist()]
        inverse = torch.from_numpy(np.stack([rule.inverse(self.rotary_dim) for rule in rules])).to(positions.device)
        factors = torch.tensor([rule.attention_factor for rule in rules], dtype=torch.float64, device=positions.device)
        return inverse[index].unsqueeze(-2), factors[index][..., None, None]

    def _rotate(self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"] | None, positions: Tensor) -> Any:
        """What `apply_rotary` gives for q, or for both: from the table where there is one, else token by token."""
        require_head_width(q, self.head_dim)
        if k is not None:
            require_head_width(k, self.head_dim)
        if q.is_cpu and positions.is_cpu and self._is_tabled(q.dtype) and readable(q, positions):
            require_positions(positions)
            turned = self._by_table(q, k, positions)
            if turned is not None:
                return turned
        cos, sin = self._of_tokens(q, positions)
        return apply_rotary(q, k, cos=cos, sin=sin, layout=self.layout)

    def _is_tabled(self, dtype: torch.dtype) -> bool:
        return dtype != torch.float64 and not self.length_dependent

    def _by_table(self, q: Tensor, k: Tensor | None, positions: Tensor) -> Any:
        """None where positions are too far out for a table. Tries the rows there are before it reads the positions."""
        cos, sin = self._table.kept
        try:
            return apply_rotary(q, k, cos=cos, sin=sin, layout=self.layout, positions=positions)
        except PositionError:
            tables = self._table.covering(positions)
        if tables is None:
            return None
        return apply_rotary(q, k, cos=tables[0], sin=tables[1], layout=self.layout, positions=positions)

    def _of_tokens(self, q: Float[Tensor, "B H S D"], positions: Int[Tensor, "#B S"]) -> Pair:
        dtype = torch.promote_types(q.dtype, torch.float32)
        if self.length_dependent:
            # Rows of the same positions may have lengths of their own.
            return self.cos_sin(positions if self._lengths is None else positions.expand(len(q), -1), dtype=dtype)
        return self._remembered.of(positions, dtype, lambda: self.cos_sin(positions, dtype=dtype))

    @property
    def options(self) -> dict[str, Any]:
        return {
            "head_dim": self.head_dim,
            "rotary_dim": self.rotary_dim,
            "layout": self.layout,
            "frequencies": self.frequencies.to_dict(),
        }


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
