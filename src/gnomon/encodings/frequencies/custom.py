"""Frequencies given number by number: searched ones, or those of a model that follows no published rule."""

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_positive, registry
from gnomon.errors import GnomonError


@registry.register("custom")
@final
class Custom(Frequencies):
    """The inverse frequencies as a list, one number in radians per position for each pair; zero does not turn.

    `attention_factor` is what cos and sin are multiplied by. Nothing says what was trained, so the bands count every
    pair that turns as kept.

    >>> Custom([1.0, 0.3, 0.0]).inverse(6).tolist()
    [1.0, 0.3, 0.0]
    """

    def __init__(self, inverse_frequencies: Sequence[float], *, attention_factor: float = 1.0) -> None:
        values = tuple(float(value) for value in inverse_frequencies)
        wrong = [value for value in values if not (math.isfinite(value) and value >= 0)]
        if wrong or not any(values):
            raise GnomonError(
                "Custom frequencies are finite numbers of at least 0, one of them above, got "
                f"{wrong[0] if wrong else list(values)}."
            )
        self.values = values
        self._attention_factor = check_positive(attention_factor, "attention_factor")

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        if rotary_dim != 2 * len(self.values):
            raise GnomonError(
                f"{len(self.values)} custom frequencies turn {2 * len(self.values)} columns, but the rotated width is "
                f"{rotary_dim}; give {rotary_dim / 2:g} numbers."
            )
        return np.array(self.values, dtype=np.float64)

    def bands(self, rotary_dim: int) -> Bands:
        still = int((self.inverse(rotary_dim) == 0).sum())
        return Bands(kept=len(self.values) - still, still=still)

    @property
    def attention_factor(self) -> float:
        """As given."""
        return self._attention_factor

    @property
    def options(self) -> dict[str, Any]:
        return {"inverse_frequencies": list(self.values), "attention_factor": self._attention_factor}


def reference(i: int, inverse_frequencies: Sequence[float]) -> float:
    """Number i of the list."""
    return inverse_frequencies[i]
