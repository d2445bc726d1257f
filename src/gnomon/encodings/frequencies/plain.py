"""The frequencies of the RoPE paper: Su et al. 2021, arXiv:2104.09864, section 3.2.2."""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, registry
from gnomon.errors import GnomonError


@registry.register("plain")
@final
class Plain(Frequencies):
    """Inverse frequency i is base^(-2 i / d), i = 0 .. d/2 - 1, where d is the rotated width of one head.

    The first pair turns by 1 radian per position, the last by nearly 1 / base.

    >>> Plain(base=10000.0).inverse(4).tolist()
    [1.0, 0.01]
    """

    def __init__(self, base: float = 10000.0) -> None:
        if not (math.isfinite(base) and base > 1):
            raise GnomonError(f"The base of the frequencies must be a finite number above 1, got {base}.")
        self.base = float(base)

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        if rotary_dim < 2 or rotary_dim % 2:
            raise GnomonError(f"The rotated width must be even and at least 2, got {rotary_dim}.")
        inverse: Float64[np.ndarray, " pairs"] = self.base ** -(np.arange(0, rotary_dim, 2) / rotary_dim)
        return inverse

    def bands(self, rotary_dim: int) -> Bands:
        return Bands(kept=rotary_dim // 2)

    @property
    def options(self) -> dict[str, Any]:
        return {"base": self.base}


def reference(i: int, rotary_dim: int, base: float) -> float:
    """theta_i of section 3.2.2, with i from 0: base^(-2 i / d)."""
    return 1.0 / math.pow(base, 2 * i / rotary_dim)
