"""Dynamic YaRN: Peng et al. 2023, arXiv:2309.00071, sections 3.3 and 3.4."""

import math
from typing import Any, final

from gnomon.encodings.frequencies.base import Frequencies, Growing, registry
from gnomon.encodings.frequencies.by_parts import ByParts
from gnomon.encodings.frequencies.yarn import YaRN


@registry.register("dynamic_yarn")
@final
class DynamicYaRN(Growing):
    """YaRN whose factor is n / L at a length n above L, the trained length `original_max_length`; plain up to it.

    The attention factor grows too: 0.1 ln(n / L) + 1. For models used beyond the trained length without fine-tuning,
    as in the authors' code. The other options are those of `YaRN`.

    >>> DynamicYaRN(2048).at_length(4096) == YaRN(2.0, 2048)
    True
    """

    def __init__(
        self,
        original_max_length: float,
        *,
        base: float = 10000.0,
        beta_fast: float = 32.0,
        beta_slow: float = 1.0,
        truncate: bool = True,
    ) -> None:
        parts = ByParts(1.0, original_max_length, base=base, beta_fast=beta_fast, beta_slow=beta_slow)
        self.original_max_length, self.plain = parts.original_max_length, parts.plain
        self.beta_fast, self.beta_slow, self.truncate = parts.beta_fast, parts.beta_slow, truncate

    @property
    def norm_preserving(self) -> bool:
        return False

    def _stretched(self, ratio: float) -> Frequencies:
        return YaRN(ratio, **self.options)

    @property
    def options(self) -> dict[str, Any]:
        return {
            "original_max_length": self.original_max_length,
            "base": self.plain.base,
            "beta_fast": self.beta_fast,
            "beta_slow": self.beta_slow,
            "truncate": self.truncate,
        }


def reference(
    i: int,
    rotary_dim: int,
    original_max_length: float,
    base: float,
    beta_fast: float,
    beta_slow: float,
    truncate: bool,
    length: int | None = None,
) -> float:
    """Pair i at a length n: section 3.2 with s = max(1, n / L), as section 3.3 says; plain without a length."""
    s = 1.0 if length is None else max(1.0, length / original_max_length)
    theta = math.pow(base, -2 * i / rotary_dim)
    first, last = (
        rotary_dim * math.log(original_max_length / (beta * 2 * math.pi)) / (2 * math.log(base))
        for beta in (beta_fast, beta_slow)
    )
    if truncate:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0.0), min(last, rotary_dim - 1.0)
    divided = min(max((i - first) / (last - first if last > first else 0.001), 0.0), 1.0)
    return theta * (1 - divided) + theta / s * divided
