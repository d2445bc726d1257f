"""The scaling of Llama 3.1: Meta's reference code (llama-models, `apply_scaling`), 2024."""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Blended, check_factor, check_positive, registry
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError


@registry.register("llama3")
@final
class Llama3(Blended):
    """Waves shorter than original_max_length / `high_freq_factor` are kept, long ones divided by `factor`.

    Long is longer than original_max_length / `low_freq_factor`. Between the two the kept share grows evenly with the
    number of turns within the original length. With equal bounds (Llama 4) nothing is blended.

    >>> Llama3(base=500_000.0).bands(128)
    Bands(kept=29, blended=6, divided=29, still=0)
    """

    def __init__(
        self,
        factor: float = 8.0,
        original_max_length: float = 8192,
        *,
        base: float = 10000.0,
        low_freq_factor: float = 1.0,
        high_freq_factor: float = 4.0,
    ) -> None:
        self.factor = check_factor(factor, "llama3 scaling")
        self.original_max_length = check_positive(original_max_length, "The original_max_length")
        self.plain = Plain(base)
        self.low_freq_factor = check_positive(low_freq_factor, "low_freq_factor")
        self.high_freq_factor = check_positive(high_freq_factor, "high_freq_factor")
        if high_freq_factor < low_freq_factor:
            raise GnomonError(
                f"high_freq_factor must be at least low_freq_factor, got {high_freq_factor} and {low_freq_factor}; "
                "Llama 3.1 has 4 and 1."
            )

    def _share(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        turns = self.plain.inverse(rotary_dim) * self.original_max_length / (2 * math.pi)
        low, high = self.low_freq_factor, self.high_freq_factor
        kept = np.clip((turns - low) / (high - low), 0.0, 1.0) if high > low else turns >= low
        share: Float64[np.ndarray, " pairs"] = 1.0 - kept
        return share

    @property
    def options(self) -> dict[str, Any]:
        return {
            "factor": self.factor,
            "original_max_length": self.original_max_length,
            "base": self.plain.base,
            "low_freq_factor": self.low_freq_factor,
            "high_freq_factor": self.high_freq_factor,
        }


def reference(
    i: int,
    rotary_dim: int,
    factor: float,
    original_max_length: float,
    base: float,
    low_freq_factor: float,
    high_freq_factor: float,
) -> float:
    """`apply_scaling` for one frequency."""
    frequency = 1.0 / math.pow(base, 2 * i / rotary_dim)
    wavelength = 2 * math.pi / frequency
    if wavelength < original_max_length / high_freq_factor:
        return frequency
    if wavelength > original_max_length / low_freq_factor:
        return frequency / factor
    smooth = (original_max_length / wavelength - low_freq_factor) / (high_freq_factor - low_freq_factor)
    return (1 - smooth) * frequency / factor + smooth * frequency
