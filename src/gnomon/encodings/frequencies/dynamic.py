"""Dynamic NTK scaling: emozilla 2023, in Peng et al. 2023 (YaRN), arXiv:2309.00071, section 3.3 and appendix A.1."""

import math
from typing import Any, final

from gnomon.encodings.frequencies.base import Frequencies, Growing, check_factor, check_positive, registry
from gnomon.encodings.frequencies.ntk import NTKAware
from gnomon.encodings.frequencies.plain import Plain


@registry.register("dynamic")
@final
class DynamicNTK(Growing):
    """NTK-aware scaling whose factor grows with the sequence: factor * n / L - (factor - 1) at a length n above L.

    L is `original_max_length`, the trained length; up to it the frequencies are the plain ones. That is the rule of
    transformers ("dynamic"), where L is `max_position_embeddings` and a key that has been rotated stays as it is, so
    that its results depend on the calls before. Here each length has its own frequencies and nothing is remembered.
    A server that fixes one length for all is `at_length(n)` (SGLang, and vLLM before 2026: n = factor * L).

    >>> rule = DynamicNTK(factor=4.0, original_max_length=2048)
    >>> rule.at_length(2048), rule.at_length(4096)
    (Plain(base=10000.0), NTKAware(factor=5.0, base=10000.0))
    """

    def __init__(self, factor: float, original_max_length: float, base: float = 10000.0) -> None:
        self.factor = check_factor(factor, "dynamic scaling")
        self.original_max_length = check_positive(original_max_length, "The original_max_length")
        self.plain = Plain(base)

    def _stretched(self, ratio: float) -> Frequencies:
        return NTKAware(self.factor * ratio - (self.factor - 1), self.plain.base)

    @property
    def options(self) -> dict[str, Any]:
        return {"factor": self.factor, "original_max_length": self.original_max_length, "base": self.plain.base}


def reference(
    i: int, rotary_dim: int, factor: float, original_max_length: float, base: float, length: int | None = None
) -> float:
    """Pair i at a length n: b' = b ((s n / L) - (s - 1))^(d / (d - 2)) with n at least L; plain without a length."""
    n = original_max_length if length is None else max(length, original_max_length)
    grown = base * math.pow(factor * n / original_max_length - (factor - 1), rotary_dim / (rotary_dim - 2))
    return math.pow(grown, -2 * i / rotary_dim)
