"""M-RoPE, rotary encoding of text, images and video at once: Qwen2-VL, Wang et al. 2024, arXiv:2409.12191, section 2.1.

The interleaved arrangement is that of Qwen3-VL: Bai et al. 2025, arXiv:2511.21631.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Self, final, get_args

import torch
from jaxtyping import Float, Int
from torch import Tensor

from gnomon.encodings.base import registry, require_positions
from gnomon.encodings.frequencies.base import Frequencies, fixed_frequencies
from gnomon.encodings.frequencies.plain import Plain
from gnomon.encodings.turning import TurnsBoth
from gnomon.errors import GnomonError
from gnomon.kernels.places import absent
from gnomon.kernels.remembered import Remembered
from gnomon.kernels.rotary import apply_rotary
from gnomon.kernels.rotation import Layout, checked_layout, require_head_width, rotated_width
from gnomon.kernels.tables import Pair, cos_sin_of

Arrangement = Literal["chunked", "interleaved", "time_last"]

_PLAIN: Final = Plain(10000.0)


@registry.register("mrope")
@final
class MRoPE(TurnsBoth):
    """Pair i turns by its frequency, the i-th of `Rotary`, times one coordinate of the token: time, height or width.

    Positions are (B, S, 3), (time, height, width). Text has the same number three times, and is then turned exactly as
    by `Rotary`. transformers keeps the coordinates first, (3, B, S): `position_ids.permute(1, 2, 0)` brings them here.
    A token at -1 on all axes has no place and is not turned.

    `sections`: how many pairs each coordinate turns, time first. `arrangement`: "chunked" gives the first and fastest
    pairs to time, the next ones to height, the slowest to width; "interleaved" deals them out in turn until height and
    width have theirs, and the rest are time's; "time_last" deals out height and width in turn and leaves the slowest to
    time. `rotary_dim`, `layout` and `frequencies` are those of `Rotary`.

    | model | options |
    | --- | --- |
    | Qwen2-VL, Qwen2.5-VL, PaddleOCR-VL | sections=(16, 24, 24) |
    | Qwen3-VL, Qwen3.5 | sections=(24, 20, 20), arrangement="interleaved" |
    | GLM-4.1V | sections=(8, 12, 12), rotary_dim=64, layout="interleaved" |
    | ERNIE 4.5 VL | sections=(20, 22, 22), arrangement="time_last", layout="interleaved" |

    (The config of ERNIE names its sections in the order height, width, time.)

    >>> MRoPE(head_dim=12, sections=(2, 2, 2), arrangement="interleaved").axis_of_pair
    (0, 1, 2, 0, 1, 2)
    """

    relative: bool = True
    axes: int = 3

    def __init__(
        self,
        head_dim: int,
        *,
        sections: Sequence[int] = (16, 24, 24),
        arrangement: Arrangement = "chunked",
        rotary_dim: int | None = None,
        layout: Layout = "half",
        frequencies: Frequencies | Mapping[str, Any] = _PLAIN,
    ) -> None:
        super().__init__()
        if arrangement not in get_args(Arrangement):
            known = ", ".join(get_args(Arrangement))
            raise GnomonError(f"The arrangement of MRoPE is one of {known}, got {arrangement!r}.")
        self.head_dim = head_dim
        self.rotary_dim = rotated_width(head_dim, rotary_dim)
        self.layout: Layout = checked_layout(layout)
        self.arrangement: Arrangement = arrangement
        self.sections = _checked_sections(sections, self.rotary_dim // 2)
        #: for each pair the coordinate that it turns by: 0 time, 1 height, 2 width
        self.axis_of_pair = _axis_of_pair(self.sections, arrangement)
        self.frequencies = fixed_frequencies(frequencies, "MRoPE")
        self.norm_preserving = self.frequencies.norm_preserving
        #: radians per position of each pair, fastest first
        self.inverse_frequencies: tuple[float, ...] = tuple(self.frequencies.inverse(self.rotary_dim).tolist())
        self._remembered = Remembered()

    @classmethod
    def sample(cls, num_heads: int, head_dim: int) -> Self:
        """Sections in the proportion of Qwen2-VL, 2 : 3 : 3."""
        pairs = head_dim // 2
        space = 3 * pairs // 8
        return cls(head_dim, rotary_dim=2 * pairs, sections=(pairs - 2 * space, space, space))

    def cos_sin(self, positions: Int[Tensor, "*BS axes"], *, dtype: torch.dtype = torch.float32) -> Pair:
        """The cosines and sines of every pair: (..., S, axes) int64 -> two of (..., S, rotary_dim / 2)."""
        require_positions(positions, axes=self.axes)
        inverse = torch.tensor(self.inverse_frequencies, dtype=torch.float64, device=positions.device)
        turned = positions.masked_fill(absent(positions), 0).to(torch.float64)[..., list(self.axis_of_pair)] * inverse
        return cos_sin_of(turned, factor=self.frequencies.attention_factor, dtype=dtype)

    def _rotate(self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B G S D"] | None, positions: Tensor) -> Any:
        """What `apply_rotary` gives for q, or for both; the layers that share this encoding share cosines and sines."""
        for x in (q,) if k is None else (q, k):
            require_head_width(x, self.head_dim)
        dtype = torch.promote_types(q.dtype, torch.float32)
        cos, sin = self._remembered.of(positions, dtype, lambda: self.cos_sin(positions, dtype=dtype))
        return apply_rotary(q, k, cos=cos, sin=sin, layout=self.layout)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "head_dim": self.head_dim,
            "sections": list(self.sections),
            "arrangement": self.arrangement,
            "rotary_dim": self.rotary_dim,
            "layout": self.layout,
            "frequencies": self.frequencies.to_dict(),
        }


def _checked_sections(sections: Sequence[int], pairs: int) -> tuple[int, int, int]:
    if len(sections) != 3 or min(sections) < 0 or sum(sections) != pairs:
        raise GnomonError(
            f"The sections of MRoPE are three numbers of pairs, for time, height and width, that add up to the {pairs} "
            f"pairs that turn; got {tuple(sections)}, which add up to {sum(sections)}."
        )
    time, height, width = sections
    return time, height, width


def _axis_of_pair(sections: tuple[int, int, int], arrangement: Arrangement) -> tuple[int, ...]:
    time, height, width = sections
    pairs = range(sum(sections))
    if arrangement == "chunked":
        return (0,) * time + (1,) * height + (2,) * width
    if arrangement == "interleaved":
        dealt = tuple(i % 3 if i < 3 * sections[i % 3] else 0 for i in pairs)
    else:
        dealt = tuple(1 + i % 2 if i < height + width else 0 for i in pairs)
    counts = Counter(dealt)
    got = tuple(counts[axis] for axis in range(3))
    if got != sections:
        raise GnomonError(
            f"Sections {sections} cannot be dealt out in turn ({arrangement}): their pairs come out as {got}; a "
            f"checkpoint with these sections turns by those, so pass sections={got}."
        )
    return dealt


def reference(
    vector: list[float],
    position: Sequence[int],
    *,
    inverse: list[float],
    sections: Sequence[int],
    arrangement: str,
    layout: str,
    attention_factor: float = 1.0,
) -> list[float]:
    """Section 2.1 for one token: RoPE whose pairs read (time, height, width), each pair one of them."""
    turned, left = list(vector), list(sections)
    if all(coordinate == -1 for coordinate in position):
        return turned
    for i, frequency in enumerate(inverse):
        if arrangement == "chunked":
            axis = 0 if i < sections[0] else 1 if i < sections[0] + sections[1] else 2
        elif arrangement == "interleaved":
            axis = i % 3 if left[i % 3] else 0
        else:
            axis = (1, 2)[i % 2] if i < sections[1] + sections[2] else 0
        left[axis] -= 1
        a, b = (2 * i, 2 * i + 1) if layout == "interleaved" else (i, i + len(inverse))
        cos, sin = (attention_factor * turn(position[axis] * frequency) for turn in (math.cos, math.sin))
        turned[a], turned[b] = vector[a] * cos - vector[b] * sin, vector[a] * sin + vector[b] * cos
    return turned
