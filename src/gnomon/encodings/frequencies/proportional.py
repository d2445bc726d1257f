"""Proportional rotary frequencies: Gemma 4's layers of full attention (transformers 5, rope type "proportional").

With a factor of 1 it is p-RoPE: Barbero et al. 2024, arXiv:2410.06205, section 6, where p is the fraction. Their p = 0
is no rotation at all: `NoPE`.
"""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_factor, registry
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError


@registry.register("proportional")
@final
class Proportional(Frequencies):
    """Only the fastest `fraction` of the pairs turns; the slow tail has frequency zero and carries no position.

    The frequencies are those of the whole rotated width: unlike a partial rotation, the exponent keeps its width, and
    with layout "half" the columns that do not turn are the last of each half. `factor` divides them all.

    >>> Proportional(fraction=0.5, base=10000.0).inverse(8).tolist()
    [1.0, 0.1, 0.0, 0.0]
    """

    def __init__(self, fraction: float, factor: float = 1.0, base: float = 10000.0) -> None:
        if not 0 < fraction <= 1:
            raise GnomonError(f"The fraction of the pairs that turn must be above 0 and at most 1, got {fraction}.")
        self.fraction = float(fraction)
        self.factor = check_factor(factor, "proportional scaling")
        self.plain = Plain(base)

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        inverse: Float64[np.ndarray, " pairs"] = self.plain.inverse(rotary_dim) / self.factor
        inverse[self._turning(rotary_dim) :] = 0.0
        return inverse

    def bands(self, rotary_dim: int) -> Bands:
        turning = self._turning(rotary_dim)
        still = rotary_dim // 2 - turning
        return Bands(kept=turning, still=still) if self.factor == 1 else Bands(divided=turning, still=still)

    def _turning(self, rotary_dim: int) -> int:
        turning = int(self.fraction * rotary_dim // 2)
        if turning < 1:
            raise GnomonError(
                f"A fraction of {self.fraction} of a rotated width of {rotary_dim} leaves no pair to turn; "
                f"give at least {2 / rotary_dim}."
            )
        return turning

    @property
    def options(self) -> dict[str, Any]:
        return {"fraction": self.fraction, "factor": self.factor, "base": self.plain.base}


def reference(i: int, rotary_dim: int, fraction: float, factor: float, base: float) -> float:
    """Pair i of the first floor(fraction d / 2) turns by base^(-2 i / d) / factor; the others do not turn."""
    return math.exp(-math.log(base) * 2 * i / rotary_dim) / factor if i < math.floor(fraction * rotary_dim / 2) else 0.0
