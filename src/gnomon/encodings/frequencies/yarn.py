"""YaRN: Peng et al. 2023, arXiv:2309.00071, sections 3.2 to 3.4."""

import math
from typing import Any, Final, Literal, final, get_args

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_positive, registry
from gnomon.encodings.frequencies.by_parts import ByParts
from gnomon.errors import GnomonError

MscaleReading = Literal["pair", "ratio"]
MSCALE_READINGS: Final = get_args(MscaleReading)


@registry.register("yarn")
@final
class YaRN(Frequencies):
    """The frequencies of NTK-by-parts, and cos and sin multiplied by an attention factor (the temperature).

    With g(k) = 0.1 k ln(factor) + 1 the attention factor is `attention_factor` where that is given, else g(1), or
    g(mscale) / g(mscale_all_dim). `mscale_reading` says when that ratio is used, because stacks differ over one
    config: "pair", as transformers does, only where both numbers are given and not zero, so that one alone is ignored;
    "ratio", as the DeepSeek code of Megatron and vLLM does, always, where an absent `mscale` is 1 and an absent
    `mscale_all_dim` is 0. The square of g(mscale_all_dim) by which DeepSeek also multiplies its logits is not in here.

    >>> YaRN(factor=4.0, original_max_length=32768, base=1e6).attention_factor
    1.138629436111989
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
        attention_factor: float | None = None,
        mscale: float | None = None,
        mscale_all_dim: float | None = None,
        mscale_reading: MscaleReading = "pair",
    ) -> None:
        self.parts = ByParts(
            factor, original_max_length, base=base, beta_fast=beta_fast, beta_slow=beta_slow, truncate=truncate
        )
        if mscale_reading not in MSCALE_READINGS:
            raise GnomonError(f"The mscale_reading is one of {', '.join(MSCALE_READINGS)}, got {mscale_reading!r}.")
        self.given_factor = None if attention_factor is None else check_positive(attention_factor, "attention_factor")
        self.mscale, self.mscale_all_dim = _scale(mscale, "mscale"), _scale(mscale_all_dim, "mscale_all_dim")
        self.mscale_reading: MscaleReading = mscale_reading

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        return self.parts.inverse(rotary_dim)

    def bands(self, rotary_dim: int) -> Bands:
        return self.parts.bands(rotary_dim)

    @property
    def attention_factor(self) -> float:
        """What cos and sin are multiplied by; every score of two rotated vectors gets its square."""
        if self.given_factor is not None:
            return self.given_factor
        above, below = self.mscale, self.mscale_all_dim
        if self.mscale_reading == "ratio":
            above, below = 1.0 if above is None else above, 0.0 if below is None else below
            return self._magnitude(above) / self._magnitude(below)
        return self._magnitude(above) / self._magnitude(below) if above and below else self._magnitude(1.0)

    def _magnitude(self, scale: float) -> float:
        return 0.1 * scale * math.log(self.parts.factor) + 1.0

    @property
    def options(self) -> dict[str, Any]:
        return {
            **self.parts.options,
            "attention_factor": self.given_factor,
            "mscale": self.mscale,
            "mscale_all_dim": self.mscale_all_dim,
            "mscale_reading": self.mscale_reading,
        }


def _scale(value: float | None, name: str) -> float | None:
    if value is not None and not (math.isfinite(value) and value >= 0):
        raise GnomonError(f"{name} must be a finite number of at least 0, or absent, got {value}.")
    return None if value is None else float(value)


def reference(
    factor: float,
    attention_factor: float | None,
    mscale: float | None,
    mscale_all_dim: float | None,
    mscale_reading: str,
) -> float:
    """The attention factor: section 3.4, sqrt(1 / t) = 0.1 ln(s) + 1. The frequencies are those of `by_parts`.

    With mscale: `get_mscale` of transformers ("pair") and `yarn_get_mscale` of the DeepSeek code ("ratio").
    """
    if attention_factor is not None:
        return attention_factor
    if mscale_reading == "pair" and not (mscale and mscale_all_dim):
        return 0.1 * math.log(factor) + 1
    numerator = 0.1 * (1 if mscale is None else mscale) * math.log(factor) + 1
    return numerator / (0.1 * (0 if mscale_all_dim is None else mscale_all_dim) * math.log(factor) + 1)
