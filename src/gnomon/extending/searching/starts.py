"""The plain methods, as they are and as lists of divisors to start a search from."""

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Frequencies
from gnomon.encodings.frequencies.linear import Linear
from gnomon.encodings.frequencies.ntk import NTKAware
from gnomon.encodings.frequencies.plain import Plain
from gnomon.encodings.frequencies.yarn import YaRN


@final
@dataclass(frozen=True)
class Method:
    """A rule by its name: its divisors of the plain frequencies, and its own factor on cos and sin."""

    name: str
    divisors: Float64[np.ndarray, " pairs"]
    attention_factor: float


def methods(base: float, dim: int, original: int, factor: float) -> tuple[Method, ...]:
    """Unscaled, linear, NTK-aware and YaRN, for `factor` times the original length.

    >>> [(method.name, method.divisors.round(2).tolist()) for method in methods(100.0, 4, 64, 4.0)][:3]
    [('unscaled', [1.0, 1.0]), ('linear', [4.0, 4.0]), ('ntk', [1.0, 4.0])]
    """
    plain = Plain(base)
    rules: dict[str, Frequencies] = {
        "unscaled": plain,
        "linear": Linear(factor, base=base),
        "ntk": NTKAware(factor, base=base),
        "yarn": YaRN(factor, original, base=base),
    }
    inverse = plain.inverse(dim)
    return tuple(Method(name, inverse / rule.inverse(dim), rule.attention_factor) for name, rule in rules.items())
