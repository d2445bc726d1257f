"""NTK-by-parts: Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.2."""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Blended, check_factor, check_positive, registry
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError

#: width of a ramp that would have none: transformers and the authors' code widen it so
NARROWEST = 0.001


@registry.register("by_parts")
@final
class ByParts(Blended):
    """Pairs that turn often within the trained length are kept, those that hardly turn are divided by `factor`.

    A pair that turns more than `beta_fast` times within `original_max_length` positions is kept, one that turns less
    than `beta_slow` times is divided. Between the two the divided share grows evenly with the index of the pair (the
    code of the authors and of everyone since; in the paper it grows with the number of turns). `truncate` rounds both
    ends of that ramp outwards to whole pairs, as all published models but gpt-oss do.

    >>> ByParts(factor=4.0, original_max_length=4096).bands(128)
    Bands(kept=21, blended=25, divided=18, still=0)
    """

    def __init__(
        self,
        factor: float,
        original_max_length: float,
        *,
        base: float = 10000.0,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        truncate: bool = True,
    ) -> None:
        self.factor = check_factor(factor, "NTK-by-parts scaling")
        self.original_max_length = check_positive(original_max_length, "The original_max_length")
        self.plain = Plain(base)
        self.beta_fast, self.beta_slow = check_positive(beta_fast, "beta_fast"), check_positive(beta_slow, "beta_slow")
        if beta_fast < beta_slow:
            raise GnomonError(f"beta_fast must be at least beta_slow, got {beta_fast} and {beta_slow}; use 32 and 1.")
        self.truncate = truncate

    def ramp(self, rotary_dim: int) -> tuple[float, float]:
        """The pairs, not always whole, between which the divided share goes from 0 to 1."""
        low, high = self._pair(self.beta_fast, rotary_dim), self._pair(self.beta_slow, rotary_dim)
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0.0), min(high, rotary_dim - 1.0)
        # Where every pair turns beta_fast times the ends have changed places, and transformers divides what it should
        # keep; here all are kept.
        return low, high if high > low else low + NARROWEST

    def _pair(self, turns: float, rotary_dim: int) -> float:
        """The pair that turns so many times within the original length."""
        return rotary_dim * math.log(self.original_max_length / (turns * 2 * math.pi)) / (2 * math.log(self.plain.base))

    def _share(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        low, high = self.ramp(rotary_dim)
        share: Float64[np.ndarray, " pairs"] = np.clip((np.arange(rotary_dim // 2) - low) / (high - low), 0.0, 1.0)
        return share

    @property
    def options(self) -> dict[str, Any]:
        return {
            "factor": self.factor,
            "original_max_length": self.original_max_length,
            "base": self.plain.base,
            "beta_fast": self.beta_fast,
            "beta_slow": self.beta_slow,
            "truncate": self.truncate,
        }


def reference(
    i: int,
    rotary_dim: int,
    factor: float,
    original_max_length: float,
    base: float,
    beta_fast: float,
    beta_slow: float,
    truncate: bool,
) -> float:
    """Definition 2: (1 - gamma) theta / s + gamma theta; gamma as in the authors' code, a ramp over the index i."""
    theta = math.pow(base, -2 * i / rotary_dim)
    first = rotary_dim * math.log(original_max_length / (beta_fast * 2 * math.pi)) / (2 * math.log(base))
    last = rotary_dim * math.log(original_max_length / (beta_slow * 2 * math.pi)) / (2 * math.log(base))
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, rotary_dim - 1)
    if first == last:
        last += 0.001
    gamma = 1 - min(max((i - first) / (last - first), 0), 1)
    return (1 - gamma) * theta / factor + gamma * theta
