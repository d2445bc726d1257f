"""NTK-aware scaling: bloc97 2023, in Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.1 and appendix A.1."""

import math
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_factor, registry
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError


@registry.register("ntk")
@final
class NTKAware(Frequencies):
    """Plain frequencies of a larger base, base * factor^(d / (d - 2)): the first pair is kept, the last divided.

    The pairs between are slowed the more the slower they turn. `factor` is fixed: nothing depends on the length of the
    sequence (the dynamic rule of the same name does).

    >>> NTKAware(factor=4.0, base=100.0).inverse(4).tolist()
    [1.0, 0.025]
    """

    def __init__(self, factor: float, base: float = 10000.0) -> None:
        self.factor = check_factor(factor, "NTK-aware scaling")
        self.plain = Plain(base)

    def larger_base(self, rotary_dim: int) -> float:
        """The base that the plain rule is used with."""
        if rotary_dim <= 2:
            raise GnomonError(f"NTK-aware scaling needs a rotated width of at least 4, got {rotary_dim}.")
        return float(self.plain.base * self.factor ** (rotary_dim / (rotary_dim - 2)))

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        return Plain(self.larger_base(rotary_dim)).inverse(rotary_dim)

    def bands(self, rotary_dim: int) -> Bands:
        pairs = rotary_dim // 2
        return Bands(kept=pairs) if self.factor == 1 else Bands(kept=1, blended=pairs - 2, divided=1)

    @property
    def options(self) -> dict[str, Any]:
        return {"factor": self.factor, "base": self.plain.base}


def reference(i: int, rotary_dim: int, factor: float, base: float) -> float:
    """Definition 1: h(theta_i) = b'^(-2 i / |D|) with b' = b s^(|D| / (|D| - 2)), i from 0."""
    slower = base * math.pow(factor, rotary_dim / (rotary_dim - 2))
    return 1.0 / math.pow(slower, 2 * i / rotary_dim)
