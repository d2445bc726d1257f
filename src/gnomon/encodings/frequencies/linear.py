"""Position interpolation: Chen et al. 2023, arXiv:2306.15595, equation 4."""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_factor, registry
from gnomon.encodings.frequencies.plain import Plain


@registry.register("linear")
@final
class Linear(Frequencies):
    """Every plain frequency divided by `factor`: position m then turns as position m / factor did.

    `factor` is the new context length over the trained one, at least 1.

    >>> Linear(factor=4.0).inverse(4).tolist()
    [0.25, 0.0025]
    """

    def __init__(self, factor: float, base: float = 10000.0) -> None:
        self.factor = check_factor(factor, "linear scaling")
        self.plain = Plain(base)

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        inverse: Float64[np.ndarray, " pairs"] = self.plain.inverse(rotary_dim) / self.factor
        return inverse

    def bands(self, rotary_dim: int) -> Bands:
        return Bands(kept=rotary_dim // 2) if self.factor == 1 else Bands(divided=rotary_dim // 2)

    @property
    def options(self) -> dict[str, Any]:
        return {"factor": self.factor, "base": self.plain.base}


def reference(i: int, rotary_dim: int, base: float, factor: float) -> float:
    """The angle of position 1: equation 4 replaces position m by m L / L', and L' / L is the factor."""
    return (1.0 / factor) * math.exp(-math.log(base) * 2 * i / rotary_dim)
