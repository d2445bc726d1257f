"""What number formats do to positions, by arithmetic alone: nothing is trained.

The shift of logits is that of Wang et al. 2024, arXiv:2411.13476, on drawn queries and keys instead of a model's.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, final, get_args

import torch
from jaxtyping import Float, Float64, Int64
from torch import Tensor

from gnomon.encodings import Rotary
from gnomon.errors import GnomonError
from gnomon.kernels.rotation import rotate
from gnomon.lab.experiments.base import Experiment, Outcome, registry
from gnomon.lab.experiments.context import Context
from gnomon.report.lab.results import MeasureInfo, Series

HEAD_DIM = 128
WINDOW = 64  #: how many positions, up to the one that is named, an error of the sine is taken over
HEADS, TOKENS = 8, 32  #: of the drawn queries and keys

Format = Literal["float64", "float32", "float16", "bfloat16", "int64"]
#: "reduced": gnomon's own, in float64 and less than a turn; else position times frequency in that format.
Angles = Literal["reduced", "float32", "float16", "bfloat16"]


@registry.register("distinct_positions")
@final
@dataclass(frozen=True)
class DistinctPositions(Experiment):
    """How many of the positions 0 .. n - 1 stay different numbers in a format, for each n of `at`."""

    infos = (MeasureInfo("distinct_positions", "positions kept apart", "positions", "positions", "higher"),)
    format: Format
    at: list[int]

    def __post_init__(self) -> None:
        _require("format", self.format, get_args(Format))
        _require_counts(self.at)

    def run(self, context: Context) -> Outcome:
        kept = [len(torch.arange(count).to(_dtype(self.format)).unique()) for count in self.at]
        return Outcome({"": {"distinct_positions": Series(tuple(self.at), tuple(kept))}})


@registry.register("sine_error")
@final
@dataclass(frozen=True)
class SineError(Experiment):
    """The largest error of a table of sines against float64, over all bands and the positions p - 63 .. p of each p.

    The bands are those of a rotary head of width 128, from one radian for each position to about 1 / 10,000. `angles`
    says how angles are computed, `stored` to which format their sines are cast.
    """

    infos = (MeasureInfo("sine_error", "largest error of the sine", "", "position", "lower"),)
    angles: Angles
    stored: Format
    at: list[int]

    def __post_init__(self) -> None:
        _require("angles", self.angles, get_args(Angles))
        _require("stored", self.stored, ("float32", "float16", "bfloat16"))
        _require_counts(self.at)

    def run(self, context: Context) -> Outcome:
        errors = [self._error(position) for position in self.at]
        return Outcome({"": {"sine_error": Series(tuple(self.at), tuple(errors), _why(self.angles, errors))}})

    def _error(self, last: int) -> float | None:
        positions = torch.arange(max(0, last - WINDOW + 1), last + 1)
        exact = (positions[:, None].double() * _frequencies()).sin()
        stored = _cos_sin(positions, self.angles)[1].to(_dtype(self.stored))
        return _largest(stored.double() - exact)


@registry.register("logit_shift")
@final
@dataclass(frozen=True)
class LogitShift(Experiment):
    """How much rotary logits change when all positions are shifted; in exact arithmetic they do not change at all.

    Queries and keys of width 128 are drawn from a standard normal distribution and cast to the format `vectors`, in
    which they are rotated. Products are summed in float64 and divided by sqrt(128). The number is the largest change
    of any logit among 8 heads of 32 tokens, for each shift of `at`.
    """

    infos = (MeasureInfo("logit_shift", "largest change of a logit", "", "shift", "lower"),)
    angles: Angles
    vectors: Format
    at: list[int]

    def __post_init__(self) -> None:
        _require("angles", self.angles, get_args(Angles))
        _require("vectors", self.vectors, ("float64", "float32", "float16", "bfloat16"))
        _require_counts(self.at)

    def run(self, context: Context) -> Outcome:
        generator = context.generator("queries and keys")
        drawn = torch.randn(2, 1, HEADS, TOKENS, HEAD_DIM, dtype=torch.float64, generator=generator)
        q, k = drawn.to(_dtype(self.vectors))
        still = self._logits(q, k, 0)
        changes = [_largest(self._logits(q, k, shift) - still) for shift in self.at]
        return Outcome({"": {"logit_shift": Series(tuple(self.at), tuple(changes), _why(self.angles, changes))}})

    def _logits(
        self, q: Float[Tensor, "B H S D"], k: Float[Tensor, "B H S D"], shift: int
    ) -> Float64[Tensor, "B H S S"]:
        positions = torch.arange(shift, shift + TOKENS)[None]
        if self.angles == "reduced":
            encoding = Rotary(HEAD_DIM)
            q, k = encoding.rotate_query(q, positions), encoding.rotate_key(k, positions)
        else:
            cos, sin = (part[:, None].to(q.dtype) for part in _cos_sin(positions, self.angles))
            q, k = rotate(q, cos, sin, layout="half"), rotate(k, cos, sin, layout="half")
        logits: Tensor = q.double() @ k.double().mT * HEAD_DIM**-0.5
        return logits


def _cos_sin(
    positions: Int64[Tensor, "*B S"], angles: Angles
) -> tuple[Float[Tensor, "*B S pairs"], Float[Tensor, "*B S pairs"]]:
    if angles == "reduced":
        return Rotary(HEAD_DIM).cos_sin(positions)
    dtype = _dtype(angles)
    turned = positions.to(dtype).unsqueeze(-1) * _frequencies().to(dtype)
    return turned.cos(), turned.sin()


def _frequencies() -> Float64[Tensor, " pairs"]:
    """Su et al. 2021, arXiv:2104.09864: 10000^(-2 i / d), in float64."""
    return torch.tensor([10000.0 ** (-2 * i / HEAD_DIM) for i in range(HEAD_DIM // 2)], dtype=torch.float64)


def _largest(errors: Float64[Tensor, "*S"]) -> float | None:
    """None where one is no number, as the sine of an infinite angle is not."""
    largest = float(errors.abs().max())
    return None if math.isnan(largest) else largest


def _why(angles: Angles, numbers: Sequence[float | None]) -> str:
    return f"{angles} has no number as large as the position" if None in numbers else ""


def _dtype(name: str) -> torch.dtype:
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _require(option: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise GnomonError(f"The {option} of a precision run is one of {', '.join(allowed)}, got {value!r}.")


def _require_counts(at: list[int]) -> None:
    if not at or min(at) < 1:
        raise GnomonError(f"A precision run needs places to measure at, each at least 1, got {at}.")
