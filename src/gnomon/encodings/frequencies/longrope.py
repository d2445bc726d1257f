"""LongRoPE: Ding et al. 2024, arXiv:2402.13753; the attention factor is that of Phi-3 and of the authors' code."""

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from jaxtyping import Float64

from gnomon.encodings.frequencies.base import Bands, Frequencies, check_factor, check_positive, registry
from gnomon.encodings.frequencies.plain import Plain
from gnomon.errors import GnomonError


@registry.register("longrope")
@final
class LongRoPE(Frequencies):
    """Each plain frequency divided by a number of its own, which a search found; one list up to L, another above it.

    L is `original_max_length`, the trained length: `short_factor` holds at L itself and below, `long_factor` above it.
    The attention factor is sqrt(1 + ln(factor) / ln(L)), where `factor` is the longest length over L, unless
    `attention_factor` gives it: one number, or two where short and long sequences differ (the short_mscale and
    long_mscale of vLLM). One of `factor` and `attention_factor` is needed. With equal lists and factors nothing depends
    on the length.

    >>> rule = LongRoPE([1.0, 1.5], [1.0, 32.0], 4096, factor=32.0)
    >>> rule.at_length(4096).inverse(4).tolist(), rule.at_length(4097).inverse(4).tolist()
    ([1.0, 0.006666666666666667], [1.0, 0.0003125])
    >>> round(rule.attention_factor, 6)
    1.190238
    """

    def __init__(
        self,
        short_factor: Sequence[float],
        long_factor: Sequence[float],
        original_max_length: float,
        *,
        base: float = 10000.0,
        factor: float | None = None,
        attention_factor: float | Sequence[float] | None = None,
    ) -> None:
        self.short = _divisors(short_factor, "short_factor")
        self.long = _divisors(long_factor, "long_factor")
        self.original_max_length = _longer_than_one(original_max_length)
        self.plain = Plain(base)
        self.factor = None if factor is None else check_factor(factor, "LongRoPE")
        self.given_factor = _attention(attention_factor)
        #: the attention factor of short sequences, and that of long ones
        self.attention_factors = self._attention_factors()
        self.length_dependent = self.short != self.long or self.attention_factors[0] != self.attention_factors[1]

    def inverse(self, rotary_dim: int) -> Float64[np.ndarray, " pairs"]:
        for name, divisors in (("short_factor", self.short), ("long_factor", self.long)):
            if 2 * len(divisors) != rotary_dim:
                raise GnomonError(
                    f"The {name} of LongRoPE has {len(divisors)} numbers, but the rotated width is {rotary_dim}; "
                    f"give {rotary_dim / 2:g}, one for each pair."
                )
        inverse: Float64[np.ndarray, " pairs"] = self.plain.inverse(rotary_dim) / np.array(self.short)
        return inverse

    def bands(self, rotary_dim: int) -> Bands:
        """A divisor of 1 keeps a pair, one of `factor` or more divides it, any other blends."""
        whole = math.inf if self.factor is None else self.factor
        kept, divided = self.short.count(1.0), sum(value >= whole > 1 for value in self.short)
        return Bands(kept, rotary_dim // 2 - kept - divided, divided)

    @property
    def attention_factor(self) -> float:
        """That of short sequences."""
        return self.attention_factors[0]

    @property
    def norm_preserving(self) -> bool:
        return self.attention_factors == (1.0, 1.0)

    def regime(self, length: int) -> int:
        long = self.length_dependent and length > self.original_max_length
        return math.floor(self.original_max_length) + 1 if long else 0

    def at_length(self, length: int) -> Frequencies:
        """The list and the attention factor of this length, for every length; itself where they are all the same."""
        if not self.length_dependent:
            return self
        long = length > self.original_max_length
        divisors, attention = (self.long if long else self.short), self.attention_factors[long]
        return LongRoPE(
            divisors,
            divisors,
            self.original_max_length,
            base=self.plain.base,
            factor=self.factor,
            attention_factor=attention,
        )

    @property
    def options(self) -> dict[str, Any]:
        return {
            "short_factor": list(self.short),
            "long_factor": list(self.long),
            "original_max_length": self.original_max_length,
            "base": self.plain.base,
            "factor": self.factor,
            "attention_factor": list(self.given_factor) if isinstance(self.given_factor, tuple) else self.given_factor,
        }

    def _attention_factors(self) -> tuple[float, float]:
        if isinstance(self.given_factor, tuple):
            return self.given_factor
        if self.given_factor is not None:
            return self.given_factor, self.given_factor
        if self.factor is None:
            raise GnomonError(
                "LongRoPE needs factor, the longest length over original_max_length (32 for Phi-3 128k), or "
                "attention_factor; got neither."
            )
        grown = math.sqrt(1 + math.log(self.factor) / math.log(self.original_max_length))
        return grown, grown


def _divisors(values: Sequence[float], name: str) -> tuple[float, ...]:
    return tuple(check_positive(value, f"Each {name} of LongRoPE") for value in values)


def _longer_than_one(length: float) -> float:
    """The attention factor divides by its logarithm."""
    if check_positive(length, "The original_max_length") <= 1:
        raise GnomonError(f"The original_max_length of LongRoPE must be above 1, got {length}.")
    return float(length)


def _attention(given: float | Sequence[float] | None) -> float | tuple[float, float] | None:
    what = "The attention_factor of LongRoPE"
    if given is None:
        return None
    if isinstance(given, int | float):
        return check_positive(given, what)
    if len(given) != 2:
        raise GnomonError(f"{what} is one number, or two for short and long sequences, got {len(given)}.")
    return check_positive(given[0], what), check_positive(given[1], what)


def reference(
    i: int,
    rotary_dim: int,
    short_factor: Sequence[float],
    long_factor: Sequence[float],
    original_max_length: float,
    base: float,
    length: int = 1,
) -> float:
    """The paper turns pair i by n / (lambda_i beta^i) at position n, beta = base^(2 / d); the lambdas of a length."""
    divisor = (long_factor if length > original_max_length else short_factor)[i]
    return 1.0 / (divisor * math.pow(base, 2 * i / rotary_dim))


def reference_attention_factor(factor: float, original_max_length: float) -> float:
    """The authors' code (`su`): sqrt(1 + ln(s) / ln(L)), and 1 for s of at most 1."""
    return 1.0 if factor <= 1 else (1 + math.log(factor, original_max_length)) ** 0.5
